/** A program for tests: rebuilds the store of a directory, and is killed at a step. */
import { rebuildStore } from '../integrity/rebuild-store.ts';

const [, , dir = '', at = '0'] = process.argv;
let steps = 0;
rebuildStore({
  dir,
  report() {
    steps += 1;
    if (steps === Number(at)) process.kill(process.pid, 'SIGKILL');
  },
});
process.stdout.write(String(steps));
