import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Call } from '#lib/call/call';
import { isFinalCard } from '#lib/call/merge-card';
import { runIn, Semaphore } from '#lib/limits/semaphore';
import type { Card } from '#lib/protocol/card';
import type { Message, MessagePart, RunRecord, RunSummary } from '#lib/protocol/run';
import type { Snapshot, WatchEvent } from '#lib/protocol/watch-messages';
import type { Caller } from '../auth/room.ts';
import type { CallService } from '../calls/room.ts';
import { type EventBus, followRun } from '../events/room.ts';
import type { RunService } from '../runs/room.ts';

/** Between texts that the model wrote before and after a call. */
export const BREAK = '\n\n';

/** The calls of a run as one who joins it is shown them. */
export type ShownCalls = readonly { readonly id: string; readonly card: Card }[];

/** Something happens in a run, for a door to render. Each character and each step of a call comes once. */
export type TurnEvent =
  | { readonly type: 'run'; readonly run: RunSummary }
  /** A person wrote it. */
  | { readonly type: 'asked'; readonly message: Message }
  | {
      readonly type: 'text';
      readonly messageId: string;
      readonly delta: string;
      /** The message had no text before. */
      readonly isFirst: boolean;
    }
  | { readonly type: 'text_end'; readonly messageId: string }
  | { readonly type: 'reasoning'; readonly delta: string }
  | { readonly type: 'notice'; readonly notice: Extract<MessagePart, { type: 'notice' }> }
  /** The card of any call of the run changed. */
  | {
      readonly type: 'call';
      readonly id: string;
      readonly card: Card;
      /** The call had ended before: its answer came late. */
      readonly isLate: boolean;
    }
  /** A call of the model went on. One that is still being written at the end of the turn is `cut`. */
  | {
      readonly type: 'tool_call';
      readonly step: 'begun' | 'written' | 'ended' | 'cut';
      readonly id: string;
      readonly name: string;
      readonly card: Card;
      readonly messageId: string;
    }
  /** The turn has ended; what was open has ended before. */
  | { readonly type: 'end'; readonly run: RunSummary };

interface OpenText {
  /** Characters that were sent, by part. */
  readonly sent: Map<number, number>;
  isStarted: boolean;
  isEnded: boolean;
}

interface AskedCall {
  card?: Card;
  /** The message whose model asked for it; undefined for a call that a program made in the run. */
  messageId?: string;
  step: 'none' | 'begun' | 'written' | 'ended';
}

/** A front end asks for a turn by one request, whose credential and body were checked. */
export interface DoorRequest<Body> {
  readonly caller: Caller;
  readonly address: string;
  readonly body: Body;
  /** Aborted when the front end leaves before it is answered. */
  readonly signal: AbortSignal;
}

/** Where the events of one answer go. */
export interface DoorSink<Event> {
  send(event: Event): void;
  end(): void;
}

export interface TurnStreamDeps {
  readonly runs: Pick<RunService, 'get'>;
  readonly bus: Pick<EventBus, 'subscribe' | 'seq'>;
  readonly calls: Pick<CallService, 'follow'>;
  /** The calls of a run as its watchers are shown them, and the number of the newest event in it. */
  readonly shownCalls: (runId: string) => Promise<Pick<Snapshot, 'seq' | 'calls'>>;
}

/** An abort closes the stream. */
export type OpenTurnStream = (runId: string, signal?: AbortSignal) => TurnStream;

/** Opens streams of runs; each holds what happens from then on, until it is followed. */
export function createTurnStreams(deps: TurnStreamDeps): OpenTurnStream {
  // One stream reads a whole run at a time, and all else of the server has its turn in between.
  const reading = new Semaphore({ atOnce: 1 });
  const inTurn: InTurn = (signal, read) => runIn(reading, () => nextTurn().then(read), { signal });
  return (runId, signal) => {
    const stream = new TurnStream(deps, runId, inTurn);
    signal?.addEventListener('abort', () => stream.close(), { once: true });
    if (signal?.aborted) stream.close();
    return stream;
  };
}

type InTurn = <T>(signal: AbortSignal, read: () => Promise<T>) => Promise<T>;

/** Makes one order of the events of a run and of its calls. */
export class TurnStream {
  readonly #deps: TurnStreamDeps;
  readonly #runId: string;
  readonly #inTurn: InTurn;
  readonly #events: ReturnType<typeof followRun>;
  readonly #unfollow: () => void;
  /** Calls as they are after an event whose turn in the order has not come. */
  readonly #states = new Map<number, Call>();
  readonly #texts = new Map<string, OpenText>();
  /** Calls that go on, and what is known of those whose first event has not come. */
  readonly #calls = new Map<string, AskedCall>();
  /** The newest events that are part of what was there. */
  #shown = { run: 0, calls: 0 };
  #isRunning = false;
  #isClosed = false;

  constructor(deps: TurnStreamDeps, runId: string, inTurn: InTurn) {
    this.#deps = deps;
    this.#runId = runId;
    this.#inTurn = inTurn;
    this.#events = followRun(deps.bus, runId);
    this.#unfollow = deps.calls.follow({ runId }, ({ call, seq }) => {
      this.#states.set(seq, call);
    });
  }

  /** Reads what there is by now. What follows is newer. */
  catchUp(signal: AbortSignal): Promise<{ run: RunRecord; calls: ShownCalls }> {
    return this.#inTurn(signal, async () => {
      // A snapshot of the calls has no room for the messages of a long run.
      const run = await this.#deps.runs.get(this.#runId);
      const { seq: ofRun } = this.#deps.bus;
      const { seq, calls: shown } = await this.#deps.shownCalls(this.#runId);
      if (!run) throw new Error(`The run ${this.#runId} is not there any more`);
      this.#shown = { run: ofRun, calls: seq };
      this.#isRunning = true;
      const calls = shown.map(({ tool_call_id: id, card: { params = {}, ...card } }) => ({
        id,
        card: { ...card, params },
      }));
      for (const { id, card } of calls) {
        if (!isFinalCard(card)) this.#calls.set(id, { card, step: 'none' });
      }
      return { run, calls };
    });
  }

  /** The message was shown whole, with its calls: nothing more of it comes but how those end. */
  markShown({ message_id: id, parts }: Message): void {
    this.#textOf(id).isEnded = true;
    for (const part of parts) {
      if (part.type !== 'tool_call') continue;
      const call = this.#calls.get(part.tool_call_id);
      if (call?.card && isWritten(call.card)) call.step = 'written';
      if (call) call.messageId = id;
    }
  }

  /** The events that would have brought these messages. */
  replay(messages: readonly Message[]): TurnEvent[] {
    return messages.flatMap((message) => this.#message(message));
  }

  /** Hands over what was held, and then what happens. */
  follow(take: (event: TurnEvent) => void): void {
    this.#events.release(0, (event) => {
      for (const one of this.#read(event)) if (!this.#isClosed) take(one);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#events.close();
    this.#unfollow();
    this.#states.clear();
  }

  /** A run as it is now: its turn may have ended. */
  readRun(run: RunSummary): TurnEvent[] {
    const isRunning = run.status === 'running';
    const hasEnded = this.#isRunning && !isRunning;
    this.#isRunning = isRunning;
    if (!hasEnded) return [{ type: 'run', run }];
    const texts = [...this.#texts.keys()].flatMap((id) => this.#endText(id));
    const cut = [...this.#calls].flatMap(([id, call]): TurnEvent[] =>
      call.step === 'begun' ? toStep(id, call, 'cut') : [],
    );
    this.#texts.clear();
    this.#calls.clear();
    return [{ type: 'run', run }, ...texts, ...cut, { type: 'end', run }];
  }

  #read(event: WatchEvent): TurnEvent[] {
    if (event.type === 'call') {
      const call = this.#states.get(event.seq);
      this.#states.delete(event.seq);
      const isNew = call !== undefined && event.seq > this.#shown.calls;
      return isNew ? this.#call(call, event.update.tool_name !== undefined) : [];
    }
    if (event.seq <= this.#shown.run) return [];
    switch (event.type) {
      case 'run':
        return this.readRun(event.run);
      case 'message':
        return this.#message(event.message);
      case 'message_delta':
        return this.#grow(event.message_id, event.index, event.part, event.delta);
      default:
        return [];
    }
  }

  /** Gives what of it no delta brought. */
  #message(message: Message): TurnEvent[] {
    const { message_id: id, role, parts, status } = message;
    if (role === 'user') return [{ type: 'asked', message }];
    const events = parts.flatMap((part, index): TurnEvent[] => {
      switch (part.type) {
        case 'text':
        case 'reasoning': {
          const sent = this.#textOf(id).sent.get(index) ?? 0;
          return this.#grow(id, index, part.type, part.text.slice(sent));
        }
        case 'tool_call':
          return this.#isAsked(part.tool_call_id, id);
        case 'notice':
          return status === 'done' ? [{ type: 'notice', notice: part }] : [];
        default:
          return [];
      }
    });
    return status === 'done' ? [...events, ...this.#endText(id)] : events;
  }

  #grow(messageId: string, index: number, kind: 'text' | 'reasoning', text: string): TurnEvent[] {
    const open = this.#textOf(messageId);
    if (text === '' || open.isEnded) return [];
    const sent = open.sent.get(index);
    open.sent.set(index, (sent ?? 0) + text.length);
    if (kind === 'reasoning') return [{ type: 'reasoning', delta: text }];
    const isFirst = !open.isStarted;
    open.isStarted = true;
    const delta = !isFirst && sent === undefined ? BREAK + text : text;
    return [{ type: 'text', messageId, delta, isFirst }];
  }

  #textOf(messageId: string): OpenText {
    const known = this.#texts.get(messageId);
    if (known) return known;
    const open = { sent: new Map<number, number>(), isStarted: false, isEnded: false };
    this.#texts.set(messageId, open);
    return open;
  }

  #endText(messageId: string): TurnEvent[] {
    const open = this.#textOf(messageId);
    if (!open.isStarted || open.isEnded) return [];
    open.isEnded = true;
    return [{ type: 'text_end', messageId }];
  }

  #isAsked(callId: string, messageId: string): TurnEvent[] {
    const call = this.#calls.get(callId) ?? { step: 'none' };
    call.messageId ??= messageId;
    this.#calls.set(callId, call);
    return this.#goOn(callId, call);
  }

  #call({ id, card }: Call, begins: boolean): TurnEvent[] {
    const known = this.#calls.get(id);
    const isLate = !begins && known?.card === undefined;
    const changed: TurnEvent = { type: 'call', id, card, isLate };
    if (isLate) return [changed];
    const call = known ?? { step: 'none' };
    call.card = card;
    this.#calls.set(id, call);
    const steps = this.#goOn(id, call);
    // The message of a call of the model is there before the call ends.
    if (isFinalCard(card)) this.#calls.delete(id);
    return [changed, ...steps];
  }

  #goOn(id: string, call: AskedCall): TurnEvent[] {
    const { card, messageId } = call;
    if (card?.tool_name === undefined || messageId === undefined) return [];
    const events: TurnEvent[] = [];
    if (call.step === 'none') events.push(...toStep(id, call, 'begun'));
    if (call.step === 'begun' && isWritten(card)) events.push(...toStep(id, call, 'written'));
    if (call.step === 'written' && isFinalCard(card)) events.push(...toStep(id, call, 'ended'));
    return events;
  }
}

function toStep(
  id: string,
  call: AskedCall,
  step: 'begun' | 'written' | 'ended' | 'cut',
): TurnEvent[] {
  const { card, messageId } = call;
  call.step = step === 'cut' ? 'written' : step;
  if (card?.tool_name === undefined || messageId === undefined) return [];
  return [{ type: 'tool_call', step, id, name: card.tool_name, card, messageId }];
}

/** Its arguments are whole. */
export const isWritten = (card: Card): boolean =>
  isFinalCard(card) || (card.phase !== 'streaming' && card.partial !== true);

/** The arguments alone: what its executor reported beside them is in the card. */
export function argumentsOf({ params, argument_names: names }: Card): string {
  const own = Object.entries(params).filter(([key]) => names?.includes(key) ?? true);
  return JSON.stringify(Object.fromEntries(own));
}

/** Gives what a call that has ended gave, in a text. */
export function outputOf({ status, result, error }: Card): string {
  if (status !== 'SUCCESS') return error?.message ?? 'The call failed.';
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
}

/** Why a turn failed. */
export const failureOf = ({ error }: RunSummary): { code: string; message: string } => {
  const { code = 'failed', message = 'The turn failed.' } = error ?? {};
  return { code, message };
};

/** The texts of a message as one. */
export const textOf = (parts: Message['parts']): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(BREAK);
