import type { ClientMessageOf } from '../protocol/client-messages.ts';
import type { ClientEnvironment } from './transports.ts';

/** The content of a `tool_status`, without the call. */
export type StatusFields = Omit<ClientMessageOf<'tool_status'>, 'type' | 'id' | 'attempt'>;

/** Ten updates a second for each call. */
const INTERVAL_MS = 100;

export interface StatusThrottle {
  /** Goes out now or, merged with what comes meanwhile, a little later. */
  push(fields: StatusFields): void;
  /** Sends what waits. */
  flush(): void;
  /** Drops what waits; nothing goes out any more. */
  close(): void;
}

/**
 * Limits a call's status updates to ten a second; of more, the last always goes (CL13).
 * `send` gives false when there is no connection: the update then waits for `flush`.
 * With another interval it limits reports about the client itself.
 */
export function createStatusThrottle({
  send,
  environment: { now, schedule },
  intervalMs = INTERVAL_MS,
}: {
  send: (fields: StatusFields) => boolean;
  environment: Pick<ClientEnvironment, 'now' | 'schedule'>;
  intervalMs?: number;
}): StatusThrottle {
  let waiting: StatusFields | null = null;
  let cancelTimer: (() => void) | null = null;
  let lastSentAt = Number.NEGATIVE_INFINITY;
  let closed = false;

  function flush() {
    cancelTimer?.();
    cancelTimer = null;
    if (closed || !waiting) return;
    if (!send(waiting)) return;
    waiting = null;
    lastSentAt = now();
  }

  return {
    flush,
    push(fields) {
      if (closed) return;
      waiting = mergeStatus(waiting, fields);
      if (cancelTimer) return;
      // A clock that was set back must not delay the update for longer than the interval.
      const wait = Math.min(intervalMs, lastSentAt + intervalMs - now());
      if (wait <= 0) flush();
      else cancelTimer = schedule(wait, flush);
    },
    close() {
      closed = true;
      cancelTimer?.();
      waiting = null;
    },
  };
}

/** New over old, `params` key by key: what the server would have made of both. */
function mergeStatus(before: StatusFields | null, given: StatusFields): StatusFields {
  const params = before?.params && given.params ? { ...before.params, ...given.params } : null;
  return { ...before, ...given, ...(params ? { params } : {}) };
}
