import type { ClientMessage } from '../protocol/client-messages.ts';
import type { ClientEnvironment } from './environment.ts';
import type { CallAnswer } from './journal.ts';

/** Answers that may be under way at once, while others wait to be sent again. */
export const WINDOW = 64;
/** Half of what the server takes of one connection: the other half is for everything else. */
const BURST = 1_000;
const PER_SECOND = 500;
/** How long to wait for room when there was none. */
const PACE_MS = 100;
/** Answers that the server says nothing to keep their places this long, and do not block the rest. */
const PATIENCE_MS = 10_000;

/**
 * Sends answers. A new one goes at once; those of earlier connections go again
 * in their order, as the acknowledgements come: after a long absence they may be
 * thousands, and all at once would be a flood that the server ends (CL33).
 */
export interface Outbox {
  /** A new answer. */
  send(id: string): void;
  /** After a new connection. */
  resend(ids: readonly string[]): void;
  /** The server has said what became of it; `wasAwaited`: it still waited for this answer. */
  settled(id: string, wasAwaited: boolean): void;
  /** The connection is gone. */
  stop(): void;
}

export function createOutbox({
  environment,
  answerOf,
  send,
}: {
  readonly environment: Pick<ClientEnvironment, 'now' | 'schedule'>;
  /** Undefined when there is nothing to send any more, or not yet. */
  answerOf(id: string): CallAnswer | undefined;
  send(message: ClientMessage): boolean;
}): Outbox {
  const waiting = new Set<string>();
  const underWay = new Set<string>();
  let stopTimer = () => {};
  let room = BURST;
  let roomAt = environment.now();

  function transmit(id: string) {
    waiting.delete(id);
    const answer = answerOf(id);
    if (!answer) return;
    underWay.add(id);
    room -= 1;
    send(answer);
  }

  function pump() {
    stopTimer();
    makeRoom();
    for (const id of waiting) {
      if (underWay.size >= WINDOW || room < 1) break;
      transmit(id);
    }
    if (waiting.size === 0) return;
    const isFull = underWay.size >= WINDOW;
    stopTimer = environment.schedule(isFull ? PATIENCE_MS : PACE_MS, () => {
      if (isFull) underWay.clear();
      pump();
    });
  }

  /** A clock that was set back makes no room, and takes none. */
  function makeRoom() {
    const now = environment.now();
    room = Math.min(BURST, room + (Math.max(0, now - roomAt) * PER_SECOND) / 1_000);
    roomAt = now;
  }

  function stop() {
    stopTimer();
    waiting.clear();
    underWay.clear();
  }

  return {
    send: transmit,
    resend(ids) {
      stop();
      room = BURST;
      for (const id of ids) waiting.add(id);
      pump();
    },
    settled(id, wasAwaited) {
      underWay.delete(id);
      waiting.delete(id);
      // The server does not count what it waited for.
      if (wasAwaited) room = Math.min(BURST, room + 1);
      if (waiting.size > 0) pump();
    },
    stop,
  };
}
