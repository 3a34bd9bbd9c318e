import type { Call } from '#lib/call/call';
import { given } from '#lib/util/given';
import type { Clock } from '../../base/clock.ts';
import type { CallService } from '../../calls/room.ts';

/** So many at once; after them four notifications a second. */
const BURST = 5;
const SHORTEST_MS = 250;
/** Hosts give up after a minute without one; some sooner. */
const HEARTBEAT_MS = 10_000;
/** A call that waits has no number to show, but each has to be higher than the one before. */
const SMALL_STEP = 0.001;

export interface ProgressDeps {
  readonly calls: Pick<CallService, 'follow'>;
  readonly clock: Clock;
}

interface Note {
  readonly progress: number;
  readonly total?: number;
  readonly message: string;
}

/** `progress` rises with each one, as MCP asks. */
export type SendProgress = (note: Note) => Promise<void>;

/**
 * Sends what a call waits for: after its card changed, with what its tool says of its progress, and
 * every 10 s while nothing changes (rule MP20). Returns a function that ends it. What cannot be
 * sent is given up: its reader left.
 */
export function reportProgress(
  { calls, clock }: ProgressDeps,
  call: Call,
  send: SendProgress,
): () => void {
  let last = Number.NEGATIVE_INFINITY;
  let latest = call;
  let shown: Pick<Call['card'], 'progress' | 'tip'> = {};
  let [room, filledAt] = [BURST, clock.now()];
  let cancel: (() => void) | undefined;
  const unfollow = calls.follow({ callId: call.id }, ({ call: now, update }) => {
    const { progress, tip } = update;
    latest = now;
    shown = { ...shown, ...given({ progress, tip }) };
    // Each of a burst is sent as it was.
    const isOfTool = progress !== undefined || tip !== undefined;
    const ms = untilRoom();
    if (isOfTool && ms === 0) publish(shown.tip ?? undefined);
    else after(ms);
  });
  const end = () => {
    cancel?.();
    unfollow();
  };

  function untilRoom(): number {
    const now = clock.now();
    room = Math.min(BURST, room + (now - filledAt) / SHORTEST_MS);
    filledAt = now;
    return room >= 1 ? 0 : Math.ceil((1 - room) * SHORTEST_MS);
  }

  function after(ms: number): void {
    cancel?.();
    cancel = clock.schedule(ms, () => publish(shown.tip ?? waitsFor(latest)));
  }

  function publish(text: string | undefined): void {
    room -= 1;
    const { done, total } = shown.progress ?? {};
    const isHigher = done !== undefined && done > last;
    const next = last === Number.NEGATIVE_INFINITY ? 0 : last + SMALL_STEP;
    last = isHigher ? done : next;
    const message = text ?? (total === undefined ? `${done}.` : `${done} of ${total}.`);
    const ofTotal = total !== undefined && last <= total ? total : undefined;
    after(HEARTBEAT_MS);
    send({ progress: last, ...given({ total: ofTotal }), message }).catch(end);
  }

  after(0);
  return end;
}

/** Says what an open call waits for, in a sentence for the program that asked. */
export function waitsFor({ phase, card, toolName, status }: Call): string {
  const client = card.client_name;
  switch (phase) {
    case 'approval':
      return 'Waiting for approval on the board.';
    case 'held':
      return 'Waiting for its turn to be approved on the board.';
    case 'queued':
      return `Waiting for a client that has ${toolName}.`;
    case 'offered':
      // A client that takes without a claim is shown as offered while it runs.
      return progressOf(card) ?? `Offered to ${client ?? 'a client'}.`;
    case 'device':
      return `${client ?? 'The device'} asks its owner.`;
    case 'cancelling':
      return 'Stopping.';
    default:
      return status === 'RUNNING' ? (progressOf(card) ?? 'Running.') : 'Waiting.';
  }
}

function progressOf({ progress, tip }: Call['card']): string | undefined {
  const count = progress?.total === undefined ? '' : `${progress.done} of ${progress.total}`;
  if (tip) return count === '' ? tip : `${tip} (${count})`;
  return count === '' ? undefined : `${count}.`;
}
