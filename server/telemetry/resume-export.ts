import type { CallRecord } from '#lib/call/call-record';
import type { Clock } from '../clock.ts';
import { spansOfCall } from './call-spans.ts';
import type { Ended, ExportMark } from './export-mark.ts';
import type { Span } from './span.ts';

const MOST_CALLS = 2_048;
const OLDEST_MS = 3_600_000;

/** The record, as what was not sent is read from it. */
export interface EndedCalls {
  /** Of calls that ended then or later the newest, oldest first. */
  endedSince(query: { since: number; limit: number }): Promise<readonly Ended[]>;
  read(callId: string): Promise<CallRecord | undefined>;
}

interface ResumeDeps {
  readonly mark: ExportMark;
  readonly ended: EndedCalls;
  readonly clock: Pick<Clock, 'now'>;
  /** Resolves when spans have room; false: none is taken any more. */
  readonly room: () => Promise<boolean>;
  readonly add: (callId: string, spans: readonly Span[]) => void;
}

/**
 * Finds the calls whose spans a crash kept from the receiver; before others end, since those have
 * theirs. Returns what sends them, as there is room.
 */
export async function findUnsent(deps: ResumeDeps): Promise<() => Promise<void>> {
  const { mark, ended, clock } = deps;
  const left = await mark.read();
  const unsent: Ended[] = [];
  if (left) {
    const since = Math.max(left.before, clock.now() - OLDEST_MS);
    const sent = new Set(left.sent.map(({ id }) => id));
    const found = await ended.endedSince({ since, limit: MOST_CALLS });
    unsent.push(...found.filter(({ id }) => !sent.has(id)));
  }
  for (const call of unsent) mark.opened(call);
  await mark.save();
  return () => sendAll(deps, unsent);
}

async function sendAll({ mark, ended, room, add }: ResumeDeps, unsent: readonly Ended[]) {
  for (const { id } of unsent) {
    if (!(await room())) return;
    const call = await ended.read(id);
    const spans = call ? spansOfCall(call, undefined, undefined) : [];
    if (spans.length > 0) add(id, spans);
    else mark.settled(id);
  }
}
