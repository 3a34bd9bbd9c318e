import { mergeCard } from '#lib/call/merge-card';
import type { Message, RunRecord, RunSummary } from '#lib/protocol/run';
import type { Snapshot, WatchEvent } from '#lib/protocol/watch-messages';
import { type AgUiEvent, type AgUiMessage, LEFT_OUT, NOTICE } from './ag-ui-events.ts';
import { CallEvents } from './call-events.ts';

/** Between texts that the model wrote before and after a call. */
const BREAK = '\n\n';

/** In one event: a reader of a slow line must not be cut off by the first thing that it is sent. */
const MOST_SNAPSHOT_BYTES = 1024 * 1024;

interface OpenText {
  /** Characters that were sent, by part. */
  readonly sent: Map<number, number>;
  isStarted: boolean;
  isEnded: boolean;
}

/** The turn that a request is about: `runId` is the message that it answers. */
export interface ShownTurn {
  readonly threadId: string;
  readonly runId: string;
  /** What the front end has sent itself. */
  readonly givenId: string | undefined;
}

/** Makes events of AG-UI of the events of one run, from the start of a turn to its end. */
export class TurnEvents {
  readonly #turn: ShownTurn;
  readonly #calls = new CallEvents();
  readonly #texts = new Map<string, OpenText>();
  #isRunning = false;
  #hasEnded = false;

  constructor(turn: ShownTurn) {
    this.#turn = turn;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  start(): AgUiEvent {
    const { threadId, runId } = this.#turn;
    return { type: 'RUN_STARTED', threadId, runId };
  }

  /** What there was before: the conversation whole, then what its model is writing. */
  begin(run: RunRecord, calls: Snapshot['calls']): AgUiEvent[] {
    const own = calls.filter(({ run_id }) => run_id === run.run_id);
    const activities = own.map(({ tool_call_id, card }) =>
      this.#calls.begin(tool_call_id, mergeCard(undefined, card)),
    );
    const done = run.messages.filter(({ status }) => status === 'done');
    const whole = done.map((message) => this.#whole(message));
    const shown = newestWithin(whole, MOST_SNAPSHOT_BYTES);
    const writing = run.messages.filter(({ status }) => status === 'streaming');
    this.#isRunning = true;
    return [
      { type: 'MESSAGES_SNAPSHOT', messages: shown.flat() },
      ...leftOut(whole.length - shown.length),
      ...activities,
      ...writing.flatMap((message) => this.#message(message)),
      ...this.#run(run),
    ];
  }

  take(event: WatchEvent): AgUiEvent[] {
    if (this.#hasEnded) return [];
    switch (event.type) {
      case 'run':
        return this.#run(event.run);
      case 'message':
        return event.message.role === 'user'
          ? this.#fromPerson(event.message)
          : this.#message(event.message);
      case 'message_delta':
        return event.part === 'text' ? this.#grow(event.message_id, event.index, event.delta) : [];
      case 'call':
        return this.#calls.take(event.tool_call_id, event.update);
      default:
        return [];
    }
  }

  #run(run: RunSummary): AgUiEvent[] {
    if (run.status === 'running') this.#isRunning = true;
    if (run.status === 'running' || !this.#isRunning) return [];
    this.#hasEnded = true;
    const open = [...this.#texts.keys()].flatMap((id) => this.#endText(id));
    return [...open, ...this.#calls.end(), this.#endOf(run)];
  }

  #endOf({ status, error }: RunSummary): AgUiEvent {
    const { threadId, runId } = this.#turn;
    if (status === 'failed') {
      const { code = 'failed', message = 'The turn failed.' } = error ?? {};
      return { type: 'RUN_ERROR', message, code };
    }
    const type = status === 'cancelled' ? 'cancelled' : 'success';
    return { type: 'RUN_FINISHED', threadId, runId, outcome: { type } };
  }

  /** A message of a person, sent from elsewhere. */
  #fromPerson({ message_id: messageId, given_id, parts }: Message): AgUiEvent[] {
    const delta = textOf(parts);
    if (delta === '' || (given_id !== undefined && given_id === this.#turn.givenId)) return [];
    return [
      { type: 'TEXT_MESSAGE_START', messageId, role: 'user' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId, delta },
      { type: 'TEXT_MESSAGE_END', messageId },
    ];
  }

  /** What of it no delta brought. */
  #message({ message_id: id, parts, status }: Message): AgUiEvent[] {
    const events = parts.flatMap((part, index): AgUiEvent[] => {
      switch (part.type) {
        case 'text':
          return this.#grow(id, index, part.text.slice(this.#textOf(id).sent.get(index) ?? 0));
        case 'tool_call':
          return this.#calls.isPartOf(part.tool_call_id, id);
        case 'notice': {
          const { type: _, ...value } = part;
          return status === 'done' ? [{ type: 'CUSTOM', name: NOTICE, value }] : [];
        }
        default:
          return [];
      }
    });
    return status === 'done' ? [...events, ...this.#endText(id)] : events;
  }

  #grow(messageId: string, index: number, text: string): AgUiEvent[] {
    if (text === '') return [];
    const open = this.#textOf(messageId);
    if (open.isEnded) return [];
    const start: AgUiEvent[] = open.isStarted
      ? []
      : [{ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }];
    const delta = open.isStarted && !open.sent.has(index) ? BREAK + text : text;
    open.isStarted = true;
    open.sent.set(index, (open.sent.get(index) ?? 0) + text.length);
    return [...start, { type: 'TEXT_MESSAGE_CONTENT', messageId, delta }];
  }

  #textOf(messageId: string): OpenText {
    const known = this.#texts.get(messageId);
    if (known) return known;
    const open = { sent: new Map<number, number>(), isStarted: false, isEnded: false };
    this.#texts.set(messageId, open);
    return open;
  }

  #endText(messageId: string): AgUiEvent[] {
    const open = this.#textOf(messageId);
    if (!open.isStarted || open.isEnded) return [];
    open.isEnded = true;
    return [{ type: 'TEXT_MESSAGE_END', messageId }];
  }

  #whole(message: Message): AgUiMessage[] {
    const { message_id: id, given_id, role, parts } = message;
    const content = textOf(parts);
    if (role === 'user') return [{ id: given_id ?? id, role, content }];
    this.#textOf(id).isEnded = true;
    const calls = parts.flatMap((part) =>
      part.type === 'tool_call' ? (this.#calls.whole(part.tool_call_id, id) ?? []) : [],
    );
    const toolCalls = calls.flatMap((one) =>
      one.role === 'assistant' ? (one.toolCalls ?? []) : [],
    );
    if (content === '' && toolCalls.length === 0) return [];
    const own = {
      ...(content === '' ? {} : { content }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
    };
    return [{ id, role, ...own }, ...calls.filter((one) => one.role === 'tool')];
  }
}

/** The newest one always, and those before it as long as all of them are no longer than this as JSON. */
function newestWithin(messages: readonly AgUiMessage[][], most: number): readonly AgUiMessage[][] {
  let first = messages.length;
  for (let bytes = 0; first > 0; first -= 1) {
    bytes += Buffer.byteLength(JSON.stringify(messages[first - 1]));
    if (bytes > most && first < messages.length) break;
  }
  return messages.slice(first);
}

const leftOut = (count: number): AgUiEvent[] =>
  count === 0 ? [] : [{ type: 'CUSTOM', name: LEFT_OUT, value: { count } }];

const textOf = (parts: Message['parts']): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(BREAK);
