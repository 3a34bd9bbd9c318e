import { isFinalCard } from '#lib/call/merge-card';
import type { EndedPart } from '#lib/protocol/watch-messages';
import type { CallService, ShownCall } from '../calls/room.ts';
import { asLeast, asSummary, asWhole, type WatchedCall } from './fit-into-room.ts';

/** A part has no more: at 20 kB/s what is new waits 2.5 s for one. */
const PART_BYTES = 48 * 1024;
/** All parts together have whole cards up to here, then summaries. */
const WHOLE_BYTES = 256 * 1024;
/** A card that is not whole has no more: all parts together stay within what a watcher may ask for at once. */
const SHORT_BYTES = 4 * 1024;
/** Newest ended calls. */
export const ENDED_CALLS = 200;

/** Where a part begins: with which call, and after how many bytes and calls of parts before. */
interface Place {
  readonly bytes: number;
  readonly count: number;
  readonly createdAt: number;
  readonly id: string;
}

const PLACE = /^(\d{1,10})-(\d{1,4})-(\d{1,16})-(.{1,128})$/;

const toText = ({ bytes, count, createdAt, id }: Place): string =>
  `${bytes}-${count}-${createdAt}-${id}`;

function toPlace(text: string): Place | undefined {
  const [, bytes, count, createdAt, id] = PLACE.exec(text) ?? [];
  if (id === undefined) return undefined;
  return { bytes: Number(bytes), count: Number(count), createdAt: Number(createdAt), id };
}

/** Newest first: by the moment when they were made, and by id where that is one. */
const newestFirst = (a: Pick<Place, 'createdAt' | 'id'>, b: typeof a): number =>
  b.createdAt - a.createdAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);

const endedOf = (calls: readonly ShownCall[]): ShownCall[] =>
  calls.filter(({ card }) => isFinalCard(card)).toSorted(newestFirst);

/** The place of the newest of them that has ended; undefined where none has. */
export function endedFrom(calls: readonly ShownCall[]): string | undefined {
  const [newest] = endedOf(calls);
  return newest && toText({ bytes: 0, count: 0, createdAt: newest.createdAt, id: newest.id });
}

/** Undefined for a place that no part or snapshot named. */
export type TakeEnded = (from: string) => EndedPart | undefined;

/**
 * Ended calls by parts, newest first (rule WA16). A card that is final does not change, so that a
 * part holds whatever was sent before and after it, and nothing is kept between two of them.
 */
export const createEndedParts =
  (calls: Pick<CallService, 'watched'>): TakeEnded =>
  (from) => {
    const place = toPlace(from);
    return place && partFrom(place, endedOf(calls.watched()));
  };

function partFrom(place: Place, ended: readonly ShownCall[]): EndedPart {
  const shown: WatchedCall[] = [];
  let [bytes, inPart] = [place.bytes, 0];
  for (const call of ended) {
    if (newestFirst(call, place) < 0) continue;
    const count = place.count + shown.length;
    if (count >= ENDED_CALLS) break;
    const { value, size } = fitted(call, bytes);
    if (shown.length > 0 && inPart + size > PART_BYTES) {
      const next = toText({ bytes, count, createdAt: call.createdAt, id: call.id });
      return { type: 'ended', calls: shown, next };
    }
    shown.push(value);
    bytes += size;
    inPart += size;
  }
  return { type: 'ended', calls: shown, next: null };
}

function fitted(call: ShownCall, before: number): { value: WatchedCall; size: number } {
  const whole = sized(asWhole(call));
  if (whole.size <= PART_BYTES && before + whole.size <= WHOLE_BYTES) return whole;
  const summary = sized(asSummary(call));
  return summary.size <= SHORT_BYTES ? summary : sized(asLeast(call));
}

const sized = (value: WatchedCall) => ({
  value,
  size: Buffer.byteLength(JSON.stringify(value)) + 1,
});
