import type { Clock } from '../base/clock.ts';
import type { BlobFiles } from '../blobs/room.ts';
import type { History } from '../store/room.ts';
import type { Keep } from './retention.ts';

interface HistorySize {
  readonly calls: number;
  /** The bytes of the database: what holds something, what later writes take again, and its log. */
  readonly usedBytes: number;
  readonly freeBytes: number;
  readonly logBytes: number;
  /** Undefined while the files are still being counted. */
  readonly blobBytes: number | undefined;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** E.g. `12,345 calls, 1.2 GiB (database 800 MiB, blobs 400 MiB); kept for ever`. */
export function describeHistory(size: HistorySize, keep: Keep): string {
  const { calls, usedBytes, freeBytes, logBytes, blobBytes = 0 } = size;
  const database = usedBytes + freeBytes + logBytes;
  const free = freeBytes * 10 > database ? ` of which ${bytesText(freeBytes)} are free` : '';
  const blobs = size.blobBytes === undefined ? 'being counted' : bytesText(blobBytes);
  const count = `${calls.toLocaleString('en')} ${calls === 1 ? 'call' : 'calls'}`;
  const parts = `database ${bytesText(database)}${free}, blobs ${blobs}`;
  return `${count}, ${bytesText(database + blobBytes)} (${parts}); ${keepText(keep)}`;
}

function keepText({ days, bytes }: Keep): string {
  const limits = [
    ...(days === undefined ? [] : [`for ${days} ${days === 1 ? 'day' : 'days'}`]),
    ...(bytes === undefined ? [] : [`up to ${bytesText(bytes)}`]),
  ];
  return limits.length === 0 ? 'kept for ever' : `kept ${limits.join(' and ')}`;
}

function bytesText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1);
  const value = bytes / 1024 ** power;
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[power]}`;
}

/** A directory of many files takes a while to be counted, and a start does not wait for it. */
const COUNT_MS = 1_000;

/** A start says this of the history. */
export async function readHistory(deps: {
  readonly store: { readonly history: Pick<History, 'size' | 'countCalls'> };
  readonly blobs: Pick<BlobFiles, 'size'>;
  readonly keep: Keep;
  readonly clock: Clock;
}): Promise<string> {
  const { store, blobs, keep, clock } = deps;
  const late = Promise.withResolvers<undefined>();
  const cancel = clock.schedule(COUNT_MS, () => late.resolve(undefined));
  const [calls, size, blobBytes] = await Promise.all([
    store.history.countCalls(),
    store.history.size(),
    Promise.race([blobs.size(), late.promise]),
  ]);
  cancel();
  return describeHistory({ ...size, calls, blobBytes }, keep);
}
