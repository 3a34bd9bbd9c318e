import { isFinalCard, mergeCard } from '#lib/call/merge-card';
import type { Card, CardUpdate } from '#lib/protocol/card';
import {
  type AgUiEvent,
  type AgUiMessage,
  CALL_ACTIVITY,
  type ToolResult,
} from './ag-ui-events.ts';
import { jsonPatch } from './json-patch.ts';

interface ShownCall {
  card: Card;
  /** The message whose model asked for it; undefined of a call that a program made in the run. */
  parent?: string | undefined;
  shown: 'nothing' | 'start' | 'arguments' | 'result';
}

const activityOf = (callId: string): string => `card_${callId}`;

/** The calls of one run: each as an activity, and those of the model also as tool calls. */
export class CallEvents {
  readonly #calls = new Map<string, ShownCall>();
  readonly #parents = new Map<string, string>();

  begin(callId: string, card: Card): AgUiEvent {
    this.#calls.set(callId, { card, shown: 'nothing' });
    return snapshotOf(callId, contentOf(card));
  }

  /** As part of a message that is sent whole. Undefined for a call whose name is not known. */
  whole(callId: string, parent: string): AgUiMessage[] | undefined {
    const call = this.#calls.get(callId);
    const name = call?.card.tool_name;
    if (!call || name === undefined || !isComplete(call.card)) return undefined;
    call.parent = parent;
    call.shown = isFinalCard(call.card) ? 'result' : 'arguments';
    const text = argumentsOf(call.card);
    const toolCall = { id: callId, type: 'function', function: { name, arguments: text } } as const;
    const asked: AgUiMessage = { id: parent, role: 'assistant', toolCalls: [toolCall] };
    if (call.shown === 'arguments') return [asked];
    const { messageId: id, ...result } = resultOf(callId, call.card);
    const { error } = call.card;
    return [asked, { id, ...result, ...(error && { error: error.code }) }];
  }

  /** A message has the call as one of its parts. */
  isPartOf(callId: string, messageId: string): AgUiEvent[] {
    this.#parents.set(callId, messageId);
    const call = this.#calls.get(callId);
    return call ? this.#goOn(callId, call) : [];
  }

  take(callId: string, update: CardUpdate): AgUiEvent[] {
    const before = this.#calls.get(callId);
    // Of a call that had ended before: its answer came late.
    if (!before && update.tool_name === undefined) return [];
    const card = mergeCard(before?.card, update);
    const changed = contentOf(changedIn(before?.card, card));
    const call: ShownCall = { shown: 'nothing', ...before, card };
    const activity = before
      ? deltaOf(callId, contentOf(changedIn(card, before.card)), changed)
      : [snapshotOf(callId, changed)];
    this.#calls.set(callId, call);
    return [...activity, ...this.#goOn(callId, call)];
  }

  /** What has begun has an end before the turn has one. */
  end(): AgUiEvent[] {
    return [...this.#calls].flatMap(([toolCallId, call]): AgUiEvent[] => {
      if (call.shown !== 'start') return [];
      call.shown = 'arguments';
      return [{ type: 'TOOL_CALL_END', toolCallId }];
    });
  }

  #goOn(toolCallId: string, call: ShownCall): AgUiEvent[] {
    const { card } = call;
    call.parent ??= this.#parents.get(toolCallId);
    const { parent: parentMessageId } = call;
    const toolCallName = card.tool_name;
    if (parentMessageId === undefined || toolCallName === undefined) return [];
    const events: AgUiEvent[] = [];
    if (call.shown === 'nothing') {
      call.shown = 'start';
      events.push({ type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId });
    }
    if (call.shown === 'start' && isComplete(card)) {
      call.shown = 'arguments';
      events.push({ type: 'TOOL_CALL_ARGS', toolCallId, delta: argumentsOf(card) });
      events.push({ type: 'TOOL_CALL_END', toolCallId });
    }
    if (call.shown === 'arguments' && isFinalCard(card)) {
      call.shown = 'result';
      events.push({ type: 'TOOL_CALL_RESULT', ...resultOf(toolCallId, card) });
    }
    return events;
  }
}

const isComplete = (card: Card): boolean =>
  isFinalCard(card) || (card.phase !== 'streaming' && card.partial !== true);

/** The arguments alone: what its executor reported beside them is in the card. */
function argumentsOf({ params, argument_names: names }: Card): string {
  const own = Object.entries(params).filter(([key]) => names?.includes(key) ?? true);
  return JSON.stringify(Object.fromEntries(own));
}

type Content = Readonly<Record<string, unknown>>;

/** As JSON has it: without what is undefined. */
const contentOf = (card: Content): Content => JSON.parse(JSON.stringify(card));

/** The fields of `after` that are other than before: merging keeps the values that stay. */
function changedIn(before: Card | undefined, after: Card): Content {
  if (!before) return { ...after };
  const was: Content = { ...before };
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => was[name] !== value));
}

const snapshotOf = (callId: string, content: Content): AgUiEvent => ({
  type: 'ACTIVITY_SNAPSHOT',
  activityType: CALL_ACTIVITY,
  messageId: activityOf(callId),
  content,
});

function deltaOf(callId: string, before: Content, after: Content): AgUiEvent[] {
  const patch = jsonPatch(before, after);
  const messageId = activityOf(callId);
  if (patch.length === 0) return [];
  return [{ type: 'ACTIVITY_DELTA', messageId, activityType: CALL_ACTIVITY, patch }];
}

function resultOf(toolCallId: string, card: Card): ToolResult {
  const { status, result, error } = card;
  const messageId = `result_${toolCallId}`;
  const of = { messageId, toolCallId, role: 'tool' } as const;
  if (status === 'SUCCESS') return { ...of, content: textOf(result) };
  return { ...of, content: error?.message ?? 'The call failed.' };
}

const textOf = (result: unknown): string =>
  typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
