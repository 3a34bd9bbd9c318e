import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { CallRecord } from '#lib/call/call-record';
import type { StoreFiles } from './store-files.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, name));

/**
 * A store as the version before the events wrote it: a row of each table, and
 * calls that wait, are asked about at the device, approved, ended and failed.
 */
export const olderStore = (): Pick<StoreFiles, 'database' | 'mark'> => ({
  database: gunzipSync(read('store-003.db.gz')),
  mark: Buffer.from('commits 000000000000002 checksum 867e0719\n'),
});

export const callsOfOlderStore = (): CallRecord[] =>
  JSON.parse(read('store-003.calls.json').toString('utf8'));
