import type { Clock } from '../base/clock.ts';
import type { Line } from './line.ts';

export interface LivenessDeps {
  readonly clock: Clock;
  readonly heartbeatMs: number;
  readonly socket: Pick<Line, 'ping' | 'terminate' | 'on' | 'isPaused'>;
  caps(): readonly string[];
  probe(): void;
  /** False: it does not reply, though its socket is open. True: it replies again. */
  onChange(isResponsive: boolean): void;
}

export interface Liveness {
  /** A message came: the program runs. */
  received(): void;
  stop(): void;
}

/**
 * Heartbeats without a message before a client counts as silent, and before its
 * socket is ended: at 10 s each, silence is shown 10 to 20 s after it began,
 * and the socket ended after 30 to 40 s.
 */
const SILENT_AFTER = 1;
const DEAD_AFTER = 3;

/**
 * Finds clients that do not reply. A frozen tab's browser answers WebSocket pings, so a
 * client with the cap `probe` is probed by a message; for others a ping at least
 * finds a dead line. The server's own stalls never count against a client.
 */
export function watchLiveness(deps: LivenessDeps): Liveness {
  const { clock, heartbeatMs, socket } = deps;
  let missed = 0;
  let isSilent = false;
  let stop = () => {};
  socket.on('pong', () => {
    // guard: pong-proves-no-program
    if (!deps.caps().includes('probe')) received();
  });

  function received(): void {
    missed = 0;
    if (!isSilent) return;
    isSilent = false;
    deps.onChange(true);
  }

  function arm(): void {
    const due = clock.now() + heartbeatMs;
    stop = clock.schedule(heartbeatMs, () => {
      const stalledMs = clock.now() - due;
      // A silence counts as little while its socket is not read.
      beat(stalledMs > heartbeatMs / 10 || socket.isPaused);
    });
  }

  function beat(hasStalled: boolean): void {
    // guard: own-stall-not-counted
    if (hasStalled) missed = Math.max(0, missed - 1);
    if (missed >= DEAD_AFTER) {
      // Not close(): a dead peer would leave the socket half closed for half a minute.
      // guard: dead-socket-ended
      socket.terminate();
      return;
    }
    if (missed >= SILENT_AFTER && !isSilent) {
      isSilent = true;
      deps.onChange(false);
    }
    missed += 1;
    // guard: program-probed
    if (deps.caps().includes('probe')) deps.probe();
    else socket.ping();
    arm();
  }

  arm();
  return {
    received,
    stop: () => stop(),
  };
}
