import type { SocketEnvironment } from './environment.ts';

/** How long an answer to a probe may take. */
const PROBE_MS = 2_000;

export interface Liveness {
  /** A frame came. `ackNonce` is that of the probe which the frame answers, if it answers one. */
  received(ackNonce: string | undefined): void;
  /** Sends a probe now, unless one is unanswered. */
  check(): void;
  stop(): void;
}

/**
 * Finds that a socket is dead although no close came, as after sleep or a
 * change of network (CL4): it probes on `check`, and after two heartbeats without a frame.
 * A heartbeat of 0 leaves the second out.
 */
export function createLiveness({
  environment: { now, schedule, newId },
  heartbeatMs,
  probe,
  onDead,
}: {
  environment: Pick<SocketEnvironment, 'now' | 'schedule' | 'newId'>;
  heartbeatMs: number;
  probe: (nonce: string) => void;
  onDead: () => void;
}): Liveness {
  const quietMs = 2 * heartbeatMs;
  let receivedAt = now();
  let unanswered: { nonce: string; cancelTimeout: () => void } | null = null;
  let cancelWatch = heartbeatMs > 0 ? schedule(quietMs, watch) : () => {};

  function watch() {
    const quiet = now() - receivedAt;
    // guard: silent-line-checked
    if (quiet >= quietMs) check();
    cancelWatch = schedule(Math.max(heartbeatMs, quietMs - quiet), watch);
  }

  function check() {
    if (unanswered) return;
    const nonce = newId();
    unanswered = { nonce, cancelTimeout: schedule(PROBE_MS, onDead) };
    probe(nonce);
  }

  return {
    check,
    received(ackNonce) {
      receivedAt = now();
      if (ackNonce === undefined || ackNonce !== unanswered?.nonce) return;
      unanswered.cancelTimeout();
      unanswered = null;
    },
    stop() {
      cancelWatch();
      unanswered?.cancelTimeout();
    },
  };
}
