import type { Message as AgUiMessage, Event, JsonPatchOperation } from '@ag-ui/core';
import { isFinalCard } from '#lib/call/merge-card';
import { sameJson } from '#lib/json/equal';
import { isRecord } from '#lib/json/is-record';
import type { Card } from '#lib/protocol/card';
import type { Message, RunRecord, RunSummary } from '#lib/protocol/run';
import {
  argumentsOf,
  failureOf,
  isWritten,
  outputOf,
  type ShownCalls,
  type TurnEvent,
  type TurnStream,
  textOf,
} from '../room.ts';

/** The library types its events with an enum, where the wire has the names. */
type OnWire<One extends Event> = One extends Event
  ? Omit<One, 'type'> & { readonly type: `${One['type']}` }
  : never;

/** An event of AG-UI 1.0. */
export type AgUiEvent = OnWire<Event>;

/** The card of a call (contract, section 2). */
const CALL_ACTIVITY = 'callboard.call';
/** A turn reports something of itself: `code`, `text` in English, `params`. */
const NOTICE = 'callboard.notice';
/** Earlier messages that a snapshot has no room for: `count`. */
const LEFT_OUT = 'callboard.messages_left_out';

/** In one event: a reader of a slow line must not be cut off by the first thing that it is sent. */
const MOST_SNAPSHOT_BYTES = 1024 * 1024;

/** The turn that a request is about: `runId` is the message that it answers. */
export interface ShownTurn {
  readonly threadId: string;
  readonly runId: string;
  /** The id of the message that the front end has sent itself. */
  readonly givenId: string | undefined;
}

/** Renders one turn of a run as events of AG-UI, to its end. */
export class TurnEvents {
  readonly #turn: ShownTurn;
  /** The cards that the front end has. */
  readonly #cards = new Map<string, Card>();

  constructor(turn: ShownTurn) {
    this.#turn = turn;
  }

  start(): AgUiEvent {
    const { threadId, runId } = this.#turn;
    return { type: 'RUN_STARTED', threadId, runId };
  }

  /** Renders what there was before: the conversation whole, then what its model is writing. */
  begin(run: RunRecord, calls: ShownCalls, stream: TurnStream): AgUiEvent[] {
    const activities = calls.map(({ id, card }) => {
      this.#cards.set(id, card);
      return activityOf(id, card);
    });
    const done = run.messages.filter(({ status }) => status === 'done');
    for (const message of done) stream.markShown(message);
    const whole = done.map((message) => this.#whole(message));
    const shown = newestWithin(whole, MOST_SNAPSHOT_BYTES);
    const writing = run.messages.filter(({ status }) => status === 'streaming');
    return [
      { type: 'MESSAGES_SNAPSHOT', messages: shown.flat() },
      ...leftOut(whole.length - shown.length),
      ...activities,
      ...[...stream.replay(writing), ...stream.readRun(run)].flatMap((one) => this.take(one)),
    ];
  }

  take(event: TurnEvent): AgUiEvent[] {
    switch (event.type) {
      case 'asked':
        return this.#fromPerson(event.message);
      case 'text': {
        const { messageId, delta, isFirst } = event;
        const role = 'assistant';
        const start: AgUiEvent[] = isFirst ? [{ type: 'TEXT_MESSAGE_START', messageId, role }] : [];
        return [...start, { type: 'TEXT_MESSAGE_CONTENT', messageId, delta }];
      }
      case 'text_end':
        return [{ type: 'TEXT_MESSAGE_END', messageId: event.messageId }];
      case 'notice': {
        const { type: _, ...value } = event.notice;
        return [{ type: 'CUSTOM', name: NOTICE, value }];
      }
      case 'call':
        return this.#activity(event);
      case 'tool_call':
        return toToolCall(event);
      case 'end':
        return [this.#endOf(event.run)];
      case 'run':
      case 'reasoning':
        return [];
    }
  }

  #activity({ id, card, isLate }: Extract<TurnEvent, { type: 'call' }>): AgUiEvent[] {
    const before = this.#cards.get(id);
    if (!before && isLate) return [];
    this.#cards.set(id, card);
    return before ? deltaOf(id, before, card) : [activityOf(id, card)];
  }

  #endOf(run: RunSummary): AgUiEvent {
    const { threadId, runId } = this.#turn;
    const { status } = run;
    if (status === 'failed') return { type: 'RUN_ERROR', ...failureOf(run) };
    const type = status === 'cancelled' ? 'cancelled' : 'success';
    return { type: 'RUN_FINISHED', threadId, runId, outcome: { type } };
  }

  /** The front end has the message that it sent itself. */
  #fromPerson({ message_id: messageId, given_id, parts }: Message): AgUiEvent[] {
    const delta = textOf(parts);
    if (delta === '' || (given_id !== undefined && given_id === this.#turn.givenId)) return [];
    return [
      { type: 'TEXT_MESSAGE_START', messageId, role: 'user' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId, delta },
      { type: 'TEXT_MESSAGE_END', messageId },
    ];
  }

  #whole({ message_id: id, given_id, role, parts }: Message): AgUiMessage[] {
    const content = textOf(parts);
    if (role === 'user') return [{ id: given_id ?? id, role, content }];
    const calls = parts.flatMap((part) => {
      const callId = part.type === 'tool_call' ? part.tool_call_id : '';
      const card = this.#cards.get(callId);
      const name = card?.tool_name;
      return card && name !== undefined && isWritten(card) ? [{ callId, name, card }] : [];
    });
    const toolCalls = calls.map(({ callId, name, card }) => ({
      id: callId,
      type: 'function' as const,
      function: { name, arguments: argumentsOf(card) },
    }));
    if (content === '' && toolCalls.length === 0) return [];
    const own = {
      ...(content === '' ? {} : { content }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
    };
    const ended = calls.filter(({ card }) => isFinalCard(card));
    return [{ id, role, ...own }, ...ended.map(({ callId, card }) => wholeResult(callId, card))];
  }
}

function toToolCall(event: Extract<TurnEvent, { type: 'tool_call' }>): AgUiEvent[] {
  const { step, id: toolCallId, name: toolCallName, card, messageId: parentMessageId } = event;
  switch (step) {
    case 'begun':
      return [{ type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId }];
    case 'written':
      return [
        { type: 'TOOL_CALL_ARGS', toolCallId, delta: argumentsOf(card) },
        { type: 'TOOL_CALL_END', toolCallId },
      ];
    case 'cut':
      return [{ type: 'TOOL_CALL_END', toolCallId }];
    case 'ended':
      return [{ type: 'TOOL_CALL_RESULT', ...resultOf(toolCallId, card) }];
  }
}

const resultOf = (toolCallId: string, card: Card) => ({
  messageId: `result_${toolCallId}`,
  toolCallId,
  role: 'tool' as const,
  content: outputOf(card),
});

function wholeResult(callId: string, card: Card): AgUiMessage {
  const { messageId: id, ...result } = resultOf(callId, card);
  const { error } = card;
  return { id, ...result, ...(error && { error: error.code }) };
}

type Content = Readonly<Record<string, unknown>>;

/** JSON has nothing that is undefined. */
const contentOf = (card: Content): Content => JSON.parse(JSON.stringify(card));

/** The fields of `after` that are other than before: a card keeps the values that stay. */
function changedIn(before: Card, after: Card): Content {
  const was: Content = { ...before };
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => was[name] !== value));
}

const activityOf = (callId: string, card: Card): AgUiEvent => ({
  type: 'ACTIVITY_SNAPSHOT',
  activityType: CALL_ACTIVITY,
  messageId: `card_${callId}`,
  content: contentOf({ ...card }),
});

function deltaOf(callId: string, before: Card, after: Card): AgUiEvent[] {
  const patch = jsonPatch(contentOf(changedIn(after, before)), contentOf(changedIn(before, after)));
  if (patch.length === 0) return [];
  const messageId = `card_${callId}`;
  return [{ type: 'ACTIVITY_DELTA', messageId, activityType: CALL_ACTIVITY, patch }];
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

/** RFC 6901, section 3: `~` first, or the `~` of `~1` would be escaped again. */
const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** A value that lies deeper is replaced whole: arguments do, and they are small. */
const DEPTH = 2;

/**
 * The operations make `after` of `before`, which are JSON. The key `__proto__` makes the readers of such
 * patches fail: the object that has it is replaced whole.
 */
export function jsonPatch(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  { path = '', depth = DEPTH } = {},
): JsonPatchOperation[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key): JsonPatchOperation[] => {
    const [was, is] = [own(before, key), own(after, key)];
    const at = `${path}/${escaped(key)}`;
    if (sameJson(was, is)) return [];
    if (is === undefined) return [{ op: 'remove', path: at }];
    if (was === undefined) return [{ op: 'add', path: at, value: is }];
    const goesIn = depth > 1 && isRecord(was) && isRecord(is) && !hasBanned(was) && !hasBanned(is);
    if (goesIn) return jsonPatch(was, is, { path: at, depth: depth - 1 });
    return [{ op: 'replace', path: at, value: is }];
  });
}

/** A key such as `toString` is inherited by every object, and is not its own. */
const own = (value: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(value, key) ? value[key] : undefined;

/** Readers refuse a path with that key. */
const hasBanned = (value: object): boolean => Object.hasOwn(value, '__proto__');
