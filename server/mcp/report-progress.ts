import type { CallRecord } from '#lib/call/call-record';
import type { Clock } from '../clock.ts';
import type { CallFollowers } from './call-followers.ts';
import { waitsFor } from './waits-for.ts';

/** At most four notifications a second. */
const SHORTEST_MS = 250;
/** Hosts give up after a minute without one; some sooner. */
const HEARTBEAT_MS = 10_000;

export interface ProgressDeps {
  readonly followers: CallFollowers;
  readonly clock: Clock;
  /** The call as it is now. */
  readonly read: (callId: string) => Promise<CallRecord | undefined>;
}

/** `progress` rises with each one, as MCP asks; there is no total, since what a call waits for has none. */
export type SendProgress = (progress: number, message: string) => Promise<void>;

/**
 * Sends what a call waits for: after its card changed, and every 10 s while nothing changes
 * (rule MP20). Returns a function that ends it. What cannot be sent is given up: its reader left.
 */
export function reportProgress(
  { followers, clock, read }: ProgressDeps,
  callId: string,
  send: SendProgress,
): () => void {
  let count = 0;
  let sentAt = Number.NEGATIVE_INFINITY;
  let isOver = false;
  let cancel: (() => void) | undefined;
  const unfollow = followers.follow(callId, () => after(sentAt + SHORTEST_MS - clock.now()));
  const end = () => {
    isOver = true;
    cancel?.();
    unfollow();
  };

  function after(ms: number): void {
    cancel?.();
    cancel = clock.schedule(Math.max(0, ms), () => void report().catch(end));
  }

  async function report(): Promise<void> {
    sentAt = clock.now();
    const call = await read(callId);
    if (isOver || !call) return;
    count += 1;
    after(HEARTBEAT_MS);
    await send(count, waitsFor(call));
  }

  after(0);
  return end;
}
