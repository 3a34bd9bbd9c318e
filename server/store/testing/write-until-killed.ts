import { fileURLToPath } from 'node:url';
import { changed, sampleCall } from '#lib/call/testing/sample-call';
import { throwingLogger } from '../../testing/error-log.ts';
import { openStore } from '../open-store.ts';
import { appendCall } from './store-setup.ts';

/**
 * A program for tests that end it by force: writes calls to the file it is
 * given, several at a time and each in three states, and prints a call's id and
 * state once its write is resolved. It ends by itself only when a write fails.
 */
const [, , file = '', size = '100'] = process.argv;
const { store } = openStore({
  ...{ file, salvage: false, now: Date.now, logger: throwingLogger, onFailed() {} },
  workerPath: (name) => fileURLToPath(new URL(`../${name}.ts`, import.meta.url)),
});
const text = 'x'.repeat(Number(size));
let last = 0;

async function writeCalls(): Promise<void> {
  for (;;) {
    last += 1;
    const queued = sampleCall({ id: `tc_${last}`, args: { text } });
    const running = changed(queued, { version: 2, status: 'RUNNING' });
    for (const call of [
      queued,
      running,
      changed(running, { version: 3, status: 'SUCCEEDED', result: text }),
    ]) {
      await store.write([appendCall(call)]);
      process.stdout.write(`${call.id} ${call.status}\n`);
    }
  }
}

try {
  await Promise.all(Array.from({ length: 8 }, writeCalls));
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.name : error} failed=${store.failed}\n`);
}
