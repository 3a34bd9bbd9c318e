import { mergeCard } from '../../../lib/call/merge-card.ts';
import type { Card, CardUpdate } from '../../../lib/protocol/card.ts';
import {
  type WatchEvent,
  type WatchRequest,
  type WatchServerMessage,
  watchServerMessageSchema,
} from '../../../lib/protocol/watch-messages.ts';
import type { Address } from '../../start-callboard.ts';
import { openSocket, type Socket, type SocketOptions } from './socket.ts';

export type WatchMessage = Exclude<WatchServerMessage, { type: 'batch' }>;

export type WatchOptions = Omit<WatchRequest, 'type'>;

export interface Watcher extends Socket<WatchMessage> {
  watch(request?: WatchOptions): void;
  /** Events alone, in order. */
  events(): WatchEvent[];
  /** The updates of a call merge to this. */
  card(callId: string): Card | undefined;
  /** The same, from the card of a snapshot on. */
  cardFrom(card: CardUpdate | undefined, callId: string): Card | undefined;
}

/** Connects to `/ws/watch`; asks for nothing yet. Frames of several events are taken apart. */
export async function connectWatcher(
  board: Address,
  options: SocketOptions = {},
): Promise<Watcher> {
  const socket = await openSocket(board, '/ws/watch', takeApart, options);
  const events = () =>
    socket.inbox.filter(
      (message): message is WatchEvent =>
        message.type !== 'snapshot' && message.type !== 'error' && message.type !== 'ended',
    );
  const cardFrom = (card: CardUpdate | undefined, callId: string) =>
    events()
      .flatMap((event) =>
        event.type === 'call' && event.tool_call_id === callId ? [event.update] : [],
      )
      .reduce<Card | undefined>(mergeCard, card && { ...card, params: card.params ?? {} });
  return {
    ...socket,
    watch: (request = {}) => socket.send({ type: 'watch', ...request }),
    events,
    card: (callId) => cardFrom(undefined, callId),
    cardFrom,
  };
}

function takeApart(value: unknown): WatchMessage[] {
  const message = watchServerMessageSchema.parse(value);
  return message.type === 'batch' ? message.events : [message];
}
