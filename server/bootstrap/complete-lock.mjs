/**
 * Completes the project's lockfiles; `--check` only says what they lack and exits 1 then.
 *
 *     node server/bootstrap/complete-lock.mjs [--check]
 *
 * A registry that lacks the packages of some platforms makes npm write a lock without them, and
 * `npm ci` of npm 11 and later then refuses that lock. Run this after each change of dependencies.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeLock } from './lock-completion.mjs';
import { BOOTSTRAP, ROOT } from './project.mjs';

const check = process.argv.includes('--check');
const lacking = [ROOT, BOOTSTRAP].flatMap((folder) => {
  const file = join(folder, 'package-lock.json');
  const { lock, added } = completeLock(JSON.parse(readFileSync(file, 'utf8')));
  if (added.length > 0 && !check) writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  return added;
});

for (const path of lacking) process.stdout.write(`${check ? 'missing' : 'added'}: ${path}\n`);
if (check && lacking.length > 0) {
  process.stderr.write('The lock is incomplete: run node server/bootstrap/complete-lock.mjs\n');
  process.exitCode = 1;
}
