import type { CardUpdate } from '../protocol/card.ts';
import type { CallRecord } from './call-record.ts';

/** Who caused an event: `operator`, `agent:<name>`, `run:<id>`, `client:<id>`, `server`. */
export type Actor = string;

/** What an event changed in the record, beside the card and the version. */
export type CallPatch = Partial<Omit<CallRecord, 'id' | 'card' | 'version'>>;

/**
 * One entry of a call's append-only list. The record of version n is the record of n - 1 with
 * `patch`, its card that card merged with `update`. The first entry patches nothing.
 */
export interface CallEventEntry {
  /** 1 for the first, one more for each after it. */
  readonly version: number;
  /** The event's type, e.g. `created`, `offered`, `answered`. */
  readonly type: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly actor: Actor;
  /** Of the provider, after the event; 0 before the first offer. */
  readonly attempt: number;
  readonly patch: CallPatch;
  /** What people were shown of it. */
  readonly update: CardUpdate;
}
