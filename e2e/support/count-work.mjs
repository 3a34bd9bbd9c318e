/**
 * Counts what each thread of a server does: `NODE_OPTIONS=--import=…/count-work.mjs`, with a folder
 * in `COUNT_WORK_DIR`. At a SIGUSR2 each thread writes the sums since its start, as
 * `<number of the signal>-<thread>.json` (0: as it began). Nothing of it is in the product.
 */
import { createHook } from 'node:async_hooks';
import crypto from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { BroadcastChannel, isMainThread, threadId, Worker } from 'node:worker_threads';

const dir = process.env.COUNT_WORK_DIR ?? '';
const sums = { promises: 0, texts: 0, parsed: 0, hashes: 0, messages: 0 };
const inStore = { rows: 0, reads: 0, commits: 0 };

createHook({
  init(_id, type) {
    if (type === 'PROMISE') sums.promises += 1;
  },
}).enable();

/**
 * The function at that place, with a look at each call of it.
 * @param {any} owner
 * @param {string} name
 * @param {(self: any, args: any[], result: any) => void} look
 */
function watch(owner, name, look) {
  const original = owner[name];
  /** @param {any[]} args */
  owner[name] = function (...args) {
    const result = original.apply(this, args);
    look(this, args, result);
    return result;
  };
}

const WRITES = /^\s*(?:insert|update|delete|replace)\b/i;
const ENDS = /^\s*(?:commit|end)\b/i;

/**
 * @param {string} sql
 * @param {number} changes
 */
function ran(sql, changes) {
  if (ENDS.test(sql)) inStore.commits += 1;
  else if (WRITES.test(sql)) inStore.rows += changes;
}

const { stringify } = JSON;
watch(JSON, 'stringify', () => {
  sums.texts += 1;
});
watch(JSON, 'parse', () => {
  sums.parsed += 1;
});
for (const name of ['hash', 'createHash']) {
  watch(crypto, name, () => {
    sums.hashes += 1;
  });
}
watch(Worker.prototype, 'postMessage', () => {
  sums.messages += 1;
});
watch(StatementSync.prototype, 'run', ({ sourceSQL }, _args, { changes }) => {
  ran(sourceSQL, Number(changes));
});
for (const name of ['get', 'all', 'iterate']) {
  watch(StatementSync.prototype, name, ({ sourceSQL }) => {
    if (WRITES.test(sourceSQL)) ran(sourceSQL, 1);
    else inStore.reads += 1;
  });
}
watch(DatabaseSync.prototype, 'exec', (_database, [sql]) => ran(sql, 1));
syncBuiltinESMExports();

/** @param {number} number */
function write(number) {
  const file = join(dir, `${number}-${isMainThread ? 'main' : threadId}.json`);
  writeFileSync(`${file}.part`, stringify({ ...sums, ...inStore }));
  renameSync(`${file}.part`, file);
}

if (dir !== '') {
  const channel = new BroadcastChannel('count-work');
  channel.onmessage = ({ data }) => write(data);
  channel.unref();
  let signals = 0;
  if (isMainThread) {
    process.on('SIGUSR2', () => {
      signals += 1;
      channel.postMessage(signals);
      write(signals);
    });
  }
  write(0);
}
