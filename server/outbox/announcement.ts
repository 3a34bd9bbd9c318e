import type { Call } from '#lib/call/call';
import type { RunSummary } from '#lib/protocol/run';
import type { Change } from '../store/room.ts';

/** What goes into the same write as the change that it reports. */
export interface Announcement {
  readonly changes: readonly Change[];
  /** They are on disk. Not called where the write is rejected. */
  written(): void;
}

/** Undefined where no target wants to know of the change. */
export type AnnounceCall = (call: Call, previous: Call | undefined) => Announcement | undefined;

/** The same of a run. */
export type AnnounceRun = (run: RunSummary, previous: RunSummary) => Announcement | undefined;
