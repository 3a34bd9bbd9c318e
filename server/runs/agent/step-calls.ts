import type { CallRecord } from '#lib/call/call-record';
import { isRecord } from '#lib/json/is-record';
import { isDeeperThan } from '#lib/json/measure-json';
import { LIMITS } from '#lib/protocol/limits';
import type { CallService, DraftCall } from '../../calls/call-service.ts';
import type { Clock } from '../../clock.ts';
import type { MeantTool } from './find-tool.ts';
import { createPartialArguments, type PartialArguments } from './partial-arguments.ts';

/** A tool call as the model finished writing it. */
export interface WrittenCall {
  readonly modelId: string;
  readonly tool: MeantTool;
  readonly input: unknown;
  /** Set when the arguments are no JSON; then there is nothing that could be run. */
  readonly unreadable: string | undefined;
}

export type StartedCall = { readonly callId: string; readonly recorded: Promise<CallRecord> };

/** The calls of one step, from their first letter to their record. */
export interface StepCalls {
  begin(modelId: string, tool: MeantTool): Promise<void>;
  write(modelId: string, delta: string): void;
  /** The model finished this call; it starts now, though the step may go on. */
  written(call: WrittenCall): Promise<void>;
  /** The stream ended as it should. Starts what was held back. Returns the calls in order. */
  finish(): StartedCall[];
  /** The stream did not: drafts become FAILED records. Returns the calls that had started. */
  abandon(message: string): StartedCall[];
  /** Calls of this step that were not even recorded, since there were too many. */
  readonly leftOut: number;
}

/** Calls of one step that may run: each costs a card, a place at its executor and a result in the history. */
export const MOST_CALLS = 32;
/** Calls of one step that are recorded, those that may not run among them. */
const MOST_RECORDED = 128;

const TOO_MANY = {
  reason: 'too_many_calls',
  message: `A step runs at most ${MOST_CALLS} calls; this one and those after it were not run. Call again in the next step.`,
} as const;

interface Entry {
  readonly modelId: string;
  readonly draft: DraftCall;
  /** Set when nothing may be run, whatever the arguments are. */
  readonly refusal: MeantTool['refusal'];
  readonly partial: PartialArguments;
  held: { readonly input: unknown } | undefined;
  recorded: Promise<CallRecord> | undefined;
}

/**
 * Maps what a model writes to calls (AL4, AL5, AL15). The draft's id is the
 * one id of a call; the model's own only tells its stream parts apart, so ids
 * that collide or are empty do no harm: parts go to the newest call of that id
 * that is still being written.
 */
export function createStepCalls(deps: {
  draft: (toolName: string) => ReturnType<CallService['draft']>;
  clock: Clock;
  onDraft: (callId: string) => void;
  /** Ends a draft that will not be complete: abandoned, or cancelled when a person stopped it. */
  giveUp: (draft: DraftCall, message: string) => Promise<CallRecord>;
}): StepCalls {
  const entries: Entry[] = [];
  /** Begun and not recorded, by the model's ids: their ends are no further calls. */
  const unrecorded: string[] = [];
  let begun = 0;
  let closed: string | undefined;

  const add = async (modelId: string, tool: MeantTool): Promise<Entry | undefined> => {
    begun += 1;
    const place = begun;
    if (place > MOST_RECORDED) return undefined;
    const draft = await deps.draft(tool.toolName);
    const partial = createPartialArguments({
      clock: deps.clock,
      send: (params) => draft.update(params),
    });
    const refusal = tool.refusal ?? (place > MOST_CALLS ? TOO_MANY : undefined);
    const entry: Entry = { modelId, draft, refusal, partial, held: undefined, recorded: undefined };
    entries.push(entry);
    // The turn may have ended while the draft was being made; its message is closed then.
    if (closed === undefined) deps.onDraft(draft.callId);
    else abandonEntry(entry, closed);
    return entry;
  };

  const abandonEntry = (entry: Entry, message: string) => {
    entry.partial.end();
    entry.recorded = keep(deps.giveUp(entry.draft, message));
  };

  const isOpen = (entry: Entry) => !entry.recorded && !entry.held;
  const started = () =>
    entries.flatMap(({ draft, recorded }) =>
      recorded ? [{ callId: draft.callId, recorded }] : [],
    );

  return {
    async begin(modelId, tool) {
      if (!(await add(modelId, tool))) unrecorded.push(modelId);
    },
    write(modelId, delta) {
      entries.findLast((entry) => entry.modelId === modelId && isOpen(entry))?.partial.push(delta);
    },
    async written(call) {
      const known = entries.find((entry) => entry.modelId === call.modelId && isOpen(entry));
      const at = known ? -1 : unrecorded.indexOf(call.modelId);
      if (at >= 0) return void unrecorded.splice(at, 1);
      const entry = known ?? (await add(call.modelId, call.tool));
      if (!entry || !isOpen(entry)) return;
      // No arguments at all is also what a stream looks like that was cut at their start.
      const unsure = known !== undefined && entry.partial.isEmpty && !call.unreadable;
      if (unsure) entry.held = { input: call.input };
      else startEntry(entry, call.input, call.unreadable);
    },
    finish() {
      for (const entry of entries) {
        if (entry.recorded) continue;
        if (entry.held) startEntry(entry, entry.held.input, undefined);
        else abandonEntry(entry, 'The model stopped before the arguments were complete.');
      }
      return started();
    },
    abandon(message) {
      closed = message;
      const running = started();
      for (const entry of entries) if (!entry.recorded) abandonEntry(entry, message);
      return running;
    },
    get leftOut() {
      return Math.max(0, begun - MOST_RECORDED);
    },
  };
}

function startEntry(entry: Entry, input: unknown, unreadable: string | undefined): void {
  entry.partial.end();
  entry.recorded = keep(start(entry, input, unreadable));
}

function start(
  { draft, refusal }: Entry,
  input: unknown,
  unreadable: string | undefined,
): Promise<CallRecord> {
  const isDeep = isDeeperThan(input, LIMITS.jsonDepth);
  if (refusal) {
    const code = refusal.reason === 'too_many_calls' ? 'denied' : 'no_provider';
    const args = !isDeep && isRecord(input) ? { args: input } : {};
    return draft.abandon(refusal.message, { code, reason: refusal.reason, ...args });
  }
  if (unreadable !== undefined)
    return draft.abandon(unreadable, { reason: 'arguments_unreadable' });
  if (isDeep) {
    const message = 'The arguments are nested too deeply.';
    return draft.abandon(message, { reason: 'arguments_unreadable' });
  }
  return draft.complete(input);
}

/** It is awaited later, or never; a rejection in between must not end the process. */
function keep(recorded: Promise<CallRecord>): Promise<CallRecord> {
  recorded.catch(() => undefined);
  return recorded;
}
