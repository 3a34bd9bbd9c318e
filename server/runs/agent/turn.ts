import { hash } from 'node:crypto';
import type { Call, Ended } from '#lib/call/call';
import { type ModelOutput, outputOfRecord } from '#lib/call/model-output';
import { canonicalJson } from '#lib/json/equal';
import { askingText } from '#lib/protocol/asking-client';
import { currentMessages } from '#lib/protocol/current-messages';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { LIMITS } from '#lib/protocol/limits';
import type { Message, RunSettings } from '#lib/protocol/run';
import type { Principal } from '../../auth/room.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { CallService } from '../../calls/room.ts';
import type { Spans } from '../../telemetry/room.ts';
import type { ToolRegistry } from '../../tools/room.ts';
import type { TurnRequest } from './agent.ts';
import type { ModelImage } from './build-model-history.ts';
import type { Lessons } from './lessons.ts';
import type { ImageSource } from './load-images.ts';
import type { Spending, TurnBudget } from './spending.ts';

export interface TurnDeps {
  readonly calls: CallService;
  readonly registry: Pick<ToolRegistry, 'list' | 'find'>;
  readonly clock: Clock;
  readonly images: ImageSource;
  readonly maxSteps: number;
  readonly budget: TurnBudget;
  /** One result as the model is sent it has no more of UTF-8. */
  readonly resultBytes: number;
  /** Tools that are asked again and again on purpose, e.g. how far a job is. */
  readonly isPolling: (toolName: string) => boolean;
  readonly isPinned: (toolName: string) => boolean;
  /** Tells what the policy denies, whatever the arguments. */
  readonly denialOf: DenialOf;
  /** How often a request that failed with 429 or 5xx is made again. */
  readonly maxRetries: number;
  readonly settings: RunSettings;
  readonly lessons: Lessons;
  readonly spans: Spans;
  /** Logs what must not happen and stops no turn. */
  readonly logger: Logger;
}

type DenialOf = (of: {
  readonly principal: Principal;
  readonly runId: string;
  readonly name: string;
  readonly from: string | null;
}) => { readonly rule: string; readonly reason: string } | undefined;

/** The steps of one turn share this. */
export interface Turn extends TurnRequest {
  readonly deps: TurnDeps;
  /** Final records, read once, without results that the model is sent in part. */
  readonly finals: Map<string, Call>;
  readonly scaled: Map<string, ModelImage>;
  /** The texts of final records, made once: a result may have 8 MiB. */
  readonly outputs: WeakMap<Call, ModelOutput>;
  /** Calls as the model wrote them, by `callKey`. */
  readonly written: Map<string, string>;
  readonly spending: Spending;
  /** Codes of what was said once and is not said again. */
  readonly noted: Set<string>;
}

interface WithMessages {
  readonly transcript: Pick<Turn['transcript'], 'messages'>;
}

interface WithOutputs extends Pick<Turn, 'outputs'> {
  readonly deps: Pick<TurnDeps, 'resultBytes'>;
}

/**
 * The messages that the model reads in this step: those before the one that it is writing. What a
 * person sends meanwhile is read in the next step (RU33); what was replaced, never (RU42).
 */
export function messagesRead({ transcript }: WithMessages): readonly Message[] {
  const messages = transcript.messages();
  const at = messages.findLastIndex(({ status }) => status === 'streaming');
  return currentMessages(at < 0 ? messages : messages.slice(0, at));
}

/** Gives what the model is sent of the call. */
export function outputFor({ outputs, deps }: WithOutputs, record: Call | undefined): ModelOutput {
  if (!record || !isFinalStatus(record.status)) return outputOfRecord(record, deps.resultBytes);
  const made = outputs.get(record) ?? outputOfRecord(record, deps.resultBytes);
  outputs.set(record, made);
  return made;
}

/** The person's message that this step answers. */
export const askedIn = (turn: Pick<Turn, 'transcript'>): Message | undefined =>
  messagesRead(turn).findLast(({ role }) => role === 'user');

/** For whom this step acts: never for more than the person may who wrote what it answers. */
export function actingFor(turn: Turn): Principal {
  const { principal, authorOf } = turn;
  const author = askedIn(turn)?.author;
  if (principal.kind !== 'run' || !author || !authorOf) return principal;
  return { ...principal, askedBy: authorOf(author) };
}

/** The client whose person sent that message, as `askingText` makes it. It is on disk with it. */
export function askedFrom(turn: Pick<Turn, 'transcript'>): string | undefined {
  const asked = askedIn(turn);
  return askingText(asked?.client_id, asked?.instance_id);
}

interface ReadingTurn extends WithMessages, WithOutputs, Pick<Turn, 'finals'> {
  readonly deps: Pick<TurnDeps, 'resultBytes'> & { readonly calls: Pick<CallService, 'get'> };
}

/** The records of all calls that the messages name, in order, each as `keptOf` has it. */
export async function readCalls(turn: ReadingTurn): Promise<Call[]> {
  const callIds = [...namedCalls(messagesRead(turn))];
  const records = await Promise.all(callIds.map((id) => readCall(turn, id)));
  return records.filter((record) => record !== undefined);
}

async function readCall(turn: ReadingTurn, callId: string): Promise<Call | undefined> {
  const { deps, finals } = turn;
  const final = finals.get(callId);
  if (final) return final;
  const record = await deps.calls.get(callId);
  if (record?.phase !== null) return record;
  const kept = keptOf(turn, record);
  finals.set(callId, kept);
  return kept;
}

/** Until the call's end is on disk, however long a person takes; a call that is gone is nothing to wait for. */
export async function untilFinal(
  calls: Pick<CallService, 'get' | 'wait'>,
  callId: string,
  signal: AbortSignal,
): Promise<void> {
  let record = await calls.get(callId);
  while (record && !isFinalStatus(record.status) && !signal.aborted) {
    record = await calls.wait(callId, LIMITS.waitMs, signal);
  }
}

/** So much is kept of the message of a failure that the model is sent in part. */
const KEPT_MESSAGE = 1_000;

function withShortMessage(record: Ended): Ended {
  if (!record.error) return record;
  const message = record.error.message.slice(0, KEPT_MESSAGE).toWellFormed();
  return { ...record, error: { ...record.error, message } };
}

/**
 * Keeps of a final record what a turn needs (AL126): where the model is sent a part of the result, that
 * part, and by what an equal result is known. A conversation may have hundreds of 8 MiB.
 */
function keptOf(turn: ReadingTurn, record: Ended): Ended {
  const output = outputFor(turn, record);
  if (!output.cut) return record;
  // The words that end a turn are the display of a tool of the server (AL160).
  const display = record.source === 'server' ? record.display : undefined;
  const kept = { ...withShortMessage(record), result: null, display };
  turn.outputs.set(kept, output);
  // The record that is kept has no result any more.
  outcomes.set(kept, outcomeOf(record));
  return kept;
}

/** Gives the messages since the person's last one. On disk all of them are whole: half messages are never stored. */
export const ofLastTurn = (messages: readonly Message[]): readonly Message[] =>
  messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);

/** Messages of a person that no step has read. */
export const unreadAtEnd = (messages: readonly Message[]): number =>
  messages.length - 1 - messages.findLastIndex(({ role }) => role !== 'user');

export const hasCalls = ({ parts }: Message): boolean =>
  parts.some((part) => part.type === 'tool_call');

export const namedCalls = (messages: readonly Message[]): ReadonlySet<string> =>
  new Set(
    messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'tool_call' ? [part.tool_call_id] : [])),
    ),
  );

/** Neither text nor call, and nothing that a turn reports of itself. */
export const isEmptyAnswer = ({ role, parts }: Message): boolean =>
  role === 'assistant' &&
  parts.every((part) => part.type === 'reasoning' || (part.type === 'text' && !part.text.trim()));

export function emptyAnswersAtEnd(messages: readonly Message[]): number {
  const last = messages.findLastIndex((message) => !isEmptyAnswer(message));
  return messages.length - 1 - last;
}

/** Its text, without calls, thoughts and files. */
export const wordsIn = ({ parts }: Pick<Message, 'parts'>): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** Once a record: a result may have 8 MiB, and is read before each step. */
const outcomes = new WeakMap<Call, string>();

/** By what an equal outcome of a call is known. */
export function outcomeOf(record: Call): string {
  const known = outcomes.get(record);
  if (known !== undefined) return known;
  const { status, result, error, attachments } = record;
  const files = attachments.map(({ blob_id }) => blob_id);
  const outcome = digest([status, result, error?.code, error?.message, files]);
  outcomes.set(record, outcome);
  return outcome;
}

export const digest = (value: unknown): string => hash('sha256', canonicalJson(value), 'base64url');
