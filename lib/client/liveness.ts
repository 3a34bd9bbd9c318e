import type { ServerMessage } from '../protocol/server-messages.ts';
import type { ClientEnvironment } from './environment.ts';

/** How long an answer to a probe may take. */
const PROBE_MS = 2_000;

export interface Liveness {
  /** Any frame came; of messages, a `probe_ack` answers. */
  heard(message: ServerMessage | undefined): void;
  /** Asks now, if it is not asking already. */
  check(): void;
  stop(): void;
}

/**
 * Finds out that a socket is dead though nobody closed it, as after sleep or a
 * change of network (CL4): asks on `check`, and when nothing came for two heartbeats.
 */
export function createLiveness({
  environment: { now, schedule, newId },
  heartbeatMs,
  probe,
  onDead,
}: {
  environment: Pick<ClientEnvironment, 'now' | 'schedule' | 'newId'>;
  heartbeatMs: number;
  probe: (nonce: string) => void;
  onDead: () => void;
}): Liveness {
  const quietMs = 2 * heartbeatMs;
  let heardAt = now();
  let asking: { nonce: string; stopTimer: () => void } | null = null;
  let stopWatch = heartbeatMs > 0 ? schedule(quietMs, watch) : () => {};

  function watch() {
    const quiet = now() - heardAt;
    if (quiet >= quietMs) check();
    stopWatch = schedule(Math.max(heartbeatMs, quietMs - quiet), watch);
  }

  function check() {
    if (asking) return;
    const nonce = newId();
    asking = { nonce, stopTimer: schedule(PROBE_MS, onDead) };
    probe(nonce);
  }

  return {
    check,
    heard(message) {
      heardAt = now();
      if (message?.type !== 'probe_ack' || message.nonce !== asking?.nonce) return;
      asking.stopTimer();
      asking = null;
    },
    stop() {
      stopWatch();
      asking?.stopTimer();
    },
  };
}
