import { isFinalStatus } from '#lib/protocol/is-final-status';
import { type Bounds, isRerunnableAt, type Rec, type World } from './world.ts';

const RANK = { PENDING: 0, RUNNING: 1, SUCCEEDED: 2, FAILED: 2, TIMEOUT: 2 } as const;

/** Which promise a world breaks, or the step into it; undefined when all hold (rule MC1). */
export function brokenPromise(before: World, w: World, bounds: Bounds): string | undefined {
  const { disk, effects } = w;
  if (w.isAccepted && disk === null) return 'P1: the caller has an id that is not on disk';
  if (w.acked !== null && disk?.result !== w.acked) {
    return `P2: ${w.acked} was acknowledged, and ${disk?.result ?? 'nothing'} is on disk`;
  }
  if (w.seen !== null && !isShown(w.seen, disk))
    return `I10: watchers saw ${w.seen}, which is not on disk`;
  if (disk === null) return effectWithoutRecord(effects, bounds);
  if (before.disk !== null && before.disk !== disk) {
    const changed = badChange(before.disk, disk);
    if (changed) return changed;
  }
  // One run at a place that says that it has effects, and it is the only one.
  const hasEffects = effects.some((one) => !isRerunnableAt(bounds, one[0] ?? ''));
  const most = hasEffects ? 1 : mostRuns(w, bounds);
  if (effects.length > most) return `P3: ${effects.length} effects of at most ${most}`;
  const isAsked = disk.phase === 'approval' || disk.phase === 'held';
  if (isAsked && effects.length > 0) return 'P3: it ran, and no yes is on disk';
  if (disk.executed === 'no' && effects.length > 0)
    return 'P3: executed "no", and it had an effect';
  if (disk.status === 'SUCCEEDED') return badSuccess(disk, effects);
  return undefined;
}

function effectWithoutRecord(effects: readonly string[], bounds: Bounds): string | undefined {
  const own = effects.find((one) => !isRerunnableAt(bounds, one[0] ?? ''));
  return own && `P3: ${own} had an effect, and no disk has the call`;
}

/** The server's own tool runs once more after each start. */
const mostRuns = ({ rec }: World, { isServer, faults }: Bounds): number =>
  isServer ? 1 + faults : (rec.provider?.attempt ?? 0);

function isShown(seen: string, disk: Rec | null): boolean {
  if (disk === null) return false;
  const rank = RANK[seen as Rec['status']];
  return rank < RANK[disk.status] || seen === disk.status;
}

function badChange(before: Rec, now: Rec): string | undefined {
  if (RANK[now.status] < RANK[before.status])
    return `it went back from ${before.status} to ${now.status}`;
  const isSame = now.status === before.status && now.result === before.result;
  if (isFinalStatus(before.status) && !isSame) {
    return `${before.status} ${before.result} became ${now.status} ${now.result}`;
  }
  const [was, is] = [before.provider, now.provider];
  if (was && is && was.attempt === is.attempt && was.instanceId !== is.instanceId) {
    return `I11: attempt ${is.attempt} of ${was.instanceId} was given to ${is.instanceId}`;
  }
  return undefined;
}

/** It succeeded by the run of the instance that was asked, and by no other. */
function badSuccess({ result, provider, rerunnable }: Rec, effects: readonly string[]) {
  const run = result?.slice(3) ?? '';
  if (!effects.includes(run)) return `P3: it succeeded by ${run}, which had no effect`;
  if (!rerunnable && effects.length !== 1) return `P3: it succeeded with ${effects.length} effects`;
  if ((provider?.instanceId ?? 's') !== run[0])
    return `I11: asked was ${provider?.instanceId}, and ${run} answered`;
  return undefined;
}
