import { createSqliteStore } from '../sqlite-store.ts';

/**
 * A program for tests that end it by force: opens the store that it is given, and prints what it is
 * told of the calls that go to the log. At a line that matches `end` it kills itself.
 */
const [, , file = '', end = '^$'] = process.argv;
// Each slice takes long by this clock, so that each is told.
let now = 0;
performance.now = () => (now += 60_000);
const store = createSqliteStore({
  file,
  log(note) {
    process.stdout.write(`${note}\n`);
    if (new RegExp(end).test(note)) process.kill(process.pid, 'SIGKILL');
  },
});
process.stdout.write('opened\n');
await store.close();
