import type { Call } from '#lib/call/call';
import { isRecord } from '#lib/json/is-record';
import { fitsJson, isDeeperThan } from '#lib/json/measure-json';
import { LIMITS } from '#lib/protocol/limits';
import { wellFormed } from '#lib/text/map-texts';
import { mapTexts } from '#lib/text/redact';
import type { DraftCall } from '../../calls/room.ts';
import type { MessageWriter } from '../message-writer.ts';
import { SAME_ID } from './answers/chat-reader.ts';
import type { MeantTool } from './mend-calls.ts';
import { PartialArguments } from './partial-arguments.ts';
import type { ReplayMetadata } from './replay.ts';
import { actingFor, askedFrom, type Turn } from './turn.ts';
import {
  ARGUMENTS_CUT,
  actorOf,
  callKey,
  endsTurn,
  isShuttingDown,
  REPEATED_CALL,
  stopperOf,
  type TurnProgress,
} from './turn-ending.ts';
/** A tool call as the model finished writing it. */
export interface WrittenCall {
  readonly modelId: string;
  readonly tool: MeantTool;
  readonly input: unknown;
  /** The text of arguments that are no JSON; then there is nothing that could be run. */
  readonly unreadable: string | undefined;
  readonly metadata?: ReplayMetadata | undefined;
}

export type StartedCall = { readonly callId: string; readonly recorded: Promise<Call> };

/** Calls of one step that may run: each costs a card, a place at its executor and a result in the history. */
export const MOST_CALLS = 32;
/** Calls of one step that are recorded, those that may not run among them. */
const MOST_RECORDED = 128;

/** Why a call was not run, as the model reads it. */
const MESSAGES = {
  too_many_calls: `A step runs at most ${MOST_CALLS} calls; this one and those after it were not run. Call again in the next step.`,
  not_alone:
    'This call ends the turn, so it is made alone, and it was not run: other calls came with it. Read their results first.',
  repeated_call:
    'This call was made before with the same arguments and gave the same result each time, so it was not run again. Use that result, change the arguments, or say what is in the way.',
  arguments_unreadable: 'The arguments were not valid JSON. Write them again as one JSON object.',
  arguments_cut:
    'Your output limit was reached within the arguments, so the call was not run. Make it once more with shorter arguments; write a long text in several calls.',
} as const;

const DENIED: ReadonlySet<string> = new Set(['too_many_calls', 'not_alone', REPEATED_CALL]);

const refused = (reason: keyof typeof MESSAGES) => ({ reason, message: MESSAGES[reason] });

type Held = Pick<WrittenCall, 'input' | 'unreadable'>;

/** The model is shown so many characters of unreadable arguments, under this name. */
const SHOWN_CHARS = 4_000;
const AS_WRITTEN = 'arguments_as_written';

interface Entry {
  readonly modelId: string;
  readonly tool: MeantTool;
  readonly draft: DraftCall;
  /** Set when nothing may be run, whatever the arguments are. */
  readonly refusal: MeantTool['refusal'];
  readonly partial: PartialArguments;
  /** By which it is known as one call with another, once its arguments are whole. */
  key?: string | undefined;
  held?: Held;
  recorded?: Promise<Call>;
}

/**
 * The calls of one step, from their first letter to their record (AL4, AL5, AL15). The draft's id is
 * the one id of a call; the model's own only sets its stream parts apart, so ids that collide or are
 * empty do no harm: parts go to the newest call of that id that is still being written.
 */
export class StepCalls {
  readonly #turn: Turn;
  readonly #writer: MessageWriter;
  readonly #progress: TurnProgress;
  readonly #entries: Entry[] = [];
  /** Begun and not recorded, by the model's ids: their ends are no further calls. */
  readonly #unrecorded: string[] = [];
  /** Begun with the id and tool of another call: copies of it, unless their arguments differ (AL201). */
  readonly #doubtful: string[] = [];
  #begun = 0;
  #closed: string | undefined;

  constructor(turn: Turn, writer: MessageWriter, progress: TurnProgress) {
    this.#turn = turn;
    this.#writer = writer;
    this.#progress = progress;
  }

  /** Calls of this step that were not even recorded, since there were too many. */
  get leftOut(): number {
    return Math.max(0, this.#begun - MOST_RECORDED);
  }

  async begin(modelId: string, tool: MeantTool): Promise<void> {
    if (this.#sameIds(modelId, tool).length > 0) this.#doubtful.push(modelId);
    else if (!(await this.#add(modelId, tool))) this.#unrecorded.push(modelId);
  }

  write(modelId: string, delta: string): void {
    this.#entries.findLast(isMeant(modelId))?.partial.push(delta);
  }

  /** The model finished this call; it starts now, though the step may go on. */
  async written({ modelId, tool, input, unreadable, metadata }: WrittenCall): Promise<void> {
    const key = isDeeperThan(input, LIMITS.jsonDepth) ? undefined : callKey(tool.toolName, input);
    const isDoubtful = takeFrom(this.#doubtful, modelId);
    const isKnown = (one: Entry) => key !== undefined && one.key === key;
    if (isDoubtful && this.#sameIds(modelId, tool).some(isKnown)) return;
    const known = isDoubtful ? undefined : this.#entries.find(isMeant(modelId));
    if (!known && takeFrom(this.#unrecorded, modelId)) return;
    const entry = known ?? (await this.#add(modelId, tool));
    if (!entry || !isOpen(entry)) return;
    entry.key = key;
    if (metadata) this.#writer.describeCall(entry.draft.callId, metadata);
    // No arguments at all is also what a stream looks like that was cut at their start.
    const unsure = known !== undefined && entry.partial.isEmpty;
    const isLast = endsTurn(this.#turn.deps.registry, entry.tool.toolName);
    // Arguments that are no JSON may have been cut: that is known at the end.
    if (unsure || isLast || unreadable !== undefined) entry.held = { input, unreadable };
    else this.#start(entry, { input, unreadable });
  }

  /**
   * The stream ended as it should. Starts what was held back. Returns the calls in order. `isCut`: by
   * the output limit, so that what is not whole was cut by it, and is asked for again.
   */
  finish(isCut = false): StartedCall[] {
    for (const entry of this.#entries) {
      if (entry.recorded) continue;
      const { held, partial } = entry;
      const isPart = partial.isEmpty || !held || held.unreadable !== undefined;
      if (isCut && isPart)
        this.#start(entry, { input: {}, unreadable: held?.unreadable ?? '' }, ARGUMENTS_CUT);
      else if (held) this.#start(entry, held);
      else this.#giveUp(entry, 'The model stopped before the arguments were complete.');
    }
    return this.#started();
  }

  /** The stream did not: drafts become FAILED records. Returns the calls that had started. */
  abandon(message: string): StartedCall[] {
    this.#closed = message;
    const running = this.#started();
    for (const entry of this.#entries) if (!entry.recorded) this.#giveUp(entry, message);
    return running;
  }

  #sameIds(modelId: string, { toolName }: MeantTool): readonly Entry[] {
    const isSame = (entry: Entry) => ownId(entry.modelId) === ownId(modelId);
    return this.#entries.filter((entry) => entry.tool.toolName === toolName && isSame(entry));
  }

  async #add(modelId: string, tool: MeantTool): Promise<Entry | undefined> {
    this.#begun += 1;
    const place = this.#begun;
    if (place > MOST_RECORDED) return undefined;
    const { deps, runId, delegated: parent, traceparent } = this.#turn;
    const draft = await deps.calls.draft({
      principal: actingFor(this.#turn),
      runId,
      tool: tool.toolName,
      fromClientId: askedFrom(this.#turn),
      parent,
      traceparent,
      modelCallId: this.#writer.ownId(ownId(modelId)),
    });
    const partial = new PartialArguments({
      clock: deps.clock,
      send: (params, whole) => draft.update(params, whole),
    });
    const refusal =
      tool.refusal ?? (place > MOST_CALLS ? refused('too_many_calls') : this.#overBudget());
    const entry: Entry = { modelId, tool, draft, refusal, partial };
    this.#entries.push(entry);
    // The turn may have ended while the draft was being made; its message is closed then.
    if (this.#closed === undefined) this.#writer.addCall(draft.callId, ownId(modelId));
    else this.#giveUp(entry, this.#closed);
    return entry;
  }

  #overBudget(): MeantTool['refusal'] {
    const spent = this.#turn.spending.takeCall();
    if (!spent) return undefined;
    const message = `The limit of ${spent.limit} calls is reached, so this call was not run. Answer with what you have.`;
    return { reason: 'too_many_calls', message };
  }

  #start(
    entry: Entry,
    held: Held,
    unreadableAs: 'arguments_unreadable' | typeof ARGUMENTS_CUT = 'arguments_unreadable',
  ): void {
    entry.partial.end();
    entry.recorded = keep(this.#record(entry, held, unreadableAs));
  }

  #record(
    { draft, tool, refusal: known }: Entry,
    { input: given, unreadable }: Held,
    unreadableAs: 'arguments_unreadable' | typeof ARGUMENTS_CUT,
  ): Promise<Call> {
    const { toolName, client } = tool;
    const unfit = unfitOf(given);
    const input = unfit ? undefined : mapTexts(given, wellFormed);
    const isWhole = unreadable === undefined && !unfit;
    const isAmongOthers = this.#begun > 1 && endsTurn(this.#turn.deps.registry, toolName);
    const refusal =
      known ??
      (isAmongOthers ? refused('not_alone') : undefined) ??
      (isWhole && this.#progress.isRepeated(toolName, input) ? refused(REPEATED_CALL) : undefined);
    const written = isRecord(input) ? { args: input } : {};
    if (refusal) {
      const code = DENIED.has(refusal.reason) ? 'denied' : 'no_provider';
      return draft.abandon(refusal.message, { code, reason: refusal.reason, ...written });
    }
    if (unreadable !== undefined) {
      const args = { [AS_WRITTEN]: shownOf(unreadable) };
      return draft.abandon(MESSAGES[unreadableAs], { reason: unreadableAs, args });
    }
    if (unfit) return draft.abandon(unfit, { reason: 'arguments_unreadable' });
    this.#turn.written.set(draft.callId, callKey(toolName, input));
    const taken = client?.take(input) ?? { ok: true, args: input };
    if (taken.ok) return draft.complete(taken.args, taken.clientId);
    return draft.abandon(taken.message, { code: 'no_provider', ...written });
  }

  #giveUp(entry: Entry, message: string): void {
    entry.partial.end();
    entry.recorded = keep(giveUp(this.#turn, entry.draft, message));
  }

  #started(): StartedCall[] {
    return this.#entries.flatMap(({ draft, recorded }) =>
      recorded ? [{ callId: draft.callId, recorded }] : [],
    );
  }
}

/** The id is as the model gave it. */
const ownId = (modelId: string): string => modelId.replace(SAME_ID, '');

function takeFrom(ids: string[], id: string): boolean {
  const at = ids.indexOf(id);
  if (at >= 0) ids.splice(at, 1);
  return at >= 0;
}

const isOpen = (entry: Entry): boolean => !entry.recorded && !entry.held;

const isMeant =
  (modelId: string) =>
  (entry: Entry): boolean =>
    entry.modelId === modelId && isOpen(entry);

function shownOf(unreadable: string): string {
  const shown = unreadable.slice(0, SHOWN_CHARS).toWellFormed();
  return unreadable.length > SHOWN_CHARS ? `${shown}…` : shown;
}

/** Before anything else looks at them: what is too deep or too large costs no more than this look. */
function unfitOf(args: unknown): string | undefined {
  if (isDeeperThan(args, LIMITS.jsonDepth)) return 'The arguments are nested too deeply.';
  if (fitsJson(args, LIMITS.argsBytes)) return undefined;
  return `The arguments are larger than ${LIMITS.argsBytes} bytes as JSON. Send less at once.`;
}

/** It is awaited later, or never; a rejection in between must not end the process. */
function keep(recorded: Promise<Call>): Promise<Call> {
  recorded.catch(() => undefined);
  return recorded;
}

/** A call that a person stopped is cancelled, not wrong; one that the model left unfinished is. */
async function giveUp(turn: Turn, draft: DraftCall, message: string): Promise<Call> {
  const { calls } = turn.deps;
  if (isShuttingDown(turn.signal)) {
    const left = await calls.get(draft.callId);
    if (left) return left;
  } else if (turn.signal.aborted) {
    const by = stopperOf(turn.signal);
    const outcome = await calls.cancel(draft.callId, message, actorOf(turn), by);
    if (outcome.ok) return outcome.call;
  }
  return draft.abandon(message, { reason: 'arguments_incomplete' });
}
