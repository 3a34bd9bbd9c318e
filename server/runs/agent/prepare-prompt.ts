import type { CallRecord } from '#lib/call/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Message } from '#lib/protocol/run';
import { buildModelHistory, type ModelHistory } from './build-model-history.ts';
import { chooseTools } from './choose-tools.ts';
import { lastAnswerInstructions, stepInstructions } from './instructions.ts';
import { loadImages } from './load-images.ts';
import { createModelTools, type ModelTools, setUnfitApart, type UnfitTool } from './model-tools.ts';
import { toTextHistory } from './text-calls/text-history.ts';
import { describeTools } from './text-calls/tool-prompt.ts';
import { askedFrom, askedIn, messagesRead, type Turn } from './turn.ts';
import { type Ending, endingOf } from './turn-ending.ts';
import { emptyAnswersAtEnd, namedCalls, ofLastTurn } from './turn-messages.ts';
import { readProgress, type TurnProgress } from './turn-progress.ts';

/** All that a step sends to the model. */
export interface StepPrompt extends ModelHistory {
  readonly instructions: string;
  /** Null for the last answer, which may call nothing. */
  readonly tools: ModelTools | null;
  /** Tools that there was no room for. */
  readonly leftOut: number;
  /** Tools whose schemas the model's API does not accept in any form. */
  readonly unfit: readonly UnfitTool[];
}

/** What a step is to be, by what is on disk before it. */
export interface StepPlan {
  /** Of all calls that the messages name, in order. */
  readonly records: readonly CallRecord[];
  readonly progress: TurnProgress;
  /** Set when the step may call nothing. */
  readonly ending: Ending | undefined;
}

export async function planStep(turn: Turn, step: number): Promise<StepPlan> {
  const messages = messagesRead(turn);
  const records = await readCalls(turn);
  const named = namedCalls(ofLastTurn(messages));
  const ofTurn = records.filter(({ id }) => named.has(id));
  const progress = readProgress(ofTurn, turn.deps.isPolling);
  return { records, progress, ending: endingOf(turn, progress, step) };
}

/** Made anew for each step, from what is on disk: clients and their tools come and go. */
export async function preparePrompt(
  turn: Turn,
  { records, progress, ending }: StepPlan,
): Promise<StepPrompt> {
  const { offered, leftOut, unfit } = offeredTools(turn, records);
  const modelTools = createModelTools(offered, turn.model.schemaTarget);
  const history = await historyFor(turn, records, modelTools);
  if (ending?.words !== undefined) {
    const instructions = lastAnswerInstructions(ending.words);
    return { ...history, instructions, tools: null, leftOut: 0, unfit };
  }
  const instructions = stepInstructions({
    ...{ offered: offered.length, leftOut, repeated: progress.repeated },
    emptyAnswers: emptyAnswersAtEnd(messagesRead(turn)),
  });
  const whole = [instructions, ...toolsInWords(turn, modelTools)].join('\n\n');
  return { ...history, instructions: whole, tools: modelTools, leftOut, unfit };
}

/** For a model that is sent no tools (AL130). */
function toolsInWords({ model }: Turn, { definitions }: ModelTools): string[] {
  if (model.toolPrompt === null || definitions.length === 0) return [];
  return [describeTools(model.toolPrompt, definitions)];
}

function offeredTools(turn: Turn, records: readonly CallRecord[]) {
  const allowed = turn.tools === null ? undefined : new Set(turn.tools);
  const callable = turn.deps.registry
    .list(turn.principal, askedFrom(turn))
    .filter((tool) => tool.callable && (!allowed || allowed.has(tool.name)));
  const { fit, unfit } = setUnfitApart(callable, turn.model.schemaTarget);
  const chosen = chooseTools(fit, {
    most: turn.model.maxTools,
    text: lastWords(askedIn(turn)),
    recent: records.map(({ toolName }) => toolName),
    clientId: askedFrom(turn) ?? null,
  });
  return { ...chosen, unfit };
}

const lastWords = (message: Message | undefined): string =>
  (message?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** The records of all calls that the messages name, in order. */
async function readCalls(turn: Turn): Promise<CallRecord[]> {
  const callIds = [...namedCalls(messagesRead(turn))];
  const records = await Promise.all(callIds.map((id) => readCall(turn, id)));
  return records.filter((record) => record !== undefined);
}

async function historyFor(
  turn: Turn,
  records: readonly CallRecord[],
  modelTools: ModelTools,
): Promise<ModelHistory> {
  const { imageWay } = turn.model;
  const images =
    imageWay === 'none' ? new Map() : await loadImages(records, turn.deps.images, turn.scaled);
  const history = buildModelHistory({
    messages: messagesRead(turn),
    calls: new Map(records.map((record) => [record.id, record])),
    images,
    imageWay,
    toModelName: modelTools.toModelName,
  });
  if (turn.model.toolPrompt === null) return history;
  const names = modelTools.definitions.map(({ name }) => name);
  return { ...history, messages: toTextHistory(history.messages, names) };
}

async function readCall(turn: Turn, callId: string): Promise<CallRecord | undefined> {
  const final = turn.finals.get(callId);
  if (final) return final;
  const record = await turn.deps.calls.get(callId);
  if (record && isFinalStatus(record.status)) turn.finals.set(callId, record);
  return record;
}
