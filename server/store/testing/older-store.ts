import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { WireCallEvent, WireCallRecord } from '#lib/protocol/call-record';
import type { StoreFiles } from './store-files.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, name));
const unpack = (name: string) => gunzipSync(read(name));

/** A server said this of its calls over HTTP before it was killed. */
export interface OlderAnswers {
  readonly calls: Readonly<Record<string, WireCallRecord>>;
  readonly events: Readonly<Record<string, readonly WireCallEvent[]>>;
  /** The ids of all pages, by the query. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
}

/**
 * Stores of servers that were killed at work, by the newest migration that they have; their logs
 * are in them. In each: calls that ended in all ways, with pictures, large values, previews, an
 * answer too late, by a person, after an approval with other arguments; and open ones, of which
 * one was still being written, one waits for a person, and four are at clients.
 */
export const OLDER_STORES: Readonly<
  Record<string, () => Pick<StoreFiles, 'database' | 'mark'> & { answers: OlderAnswers }>
> = {
  '002_checksums': () => killedStore('002', 'commits 000000000000089 checksum d9755499\n'),
  '018_outbox': () => killedStore('018', 'commits 000000000000125 checksum 2bee9a0f\n'),
};

const killedStore = (name: string, mark: string) => ({
  database: unpack(`store-${name}.db.gz`),
  mark: Buffer.from(mark),
  answers: JSON.parse(unpack(`store-${name}.answers.json.gz`).toString('utf8')) as OlderAnswers,
});
