import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { Guard } from './guards/guard.ts';
import { GUARDS } from './guards.ts';
import { PROMISES } from './promises.ts';

/**
 * Breaks each guard of docs/threats.md and docs/promises.md in turn, and expects a test of its number to fail:
 * `node e2e/threats/main.ts`, or some by their numbers, `node e2e/threats/main.ts T76 T82`. A guard
 * is broken in its file, which is put back at once, also when this is interrupted.
 */

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/threats.md'), 'utf8');
const outcomeSchema = z.object({ numFailedTests: z.number(), numPassedTests: z.number() });

/** The longest run of the tests of one number. */
const LONGEST_MS = 180_000;

let putBack = (): void => undefined;
process.on('exit', () => putBack());
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

const numbers = process.argv.slice(2);
const survivors: string[] = [];
for (const guard of GUARDS) {
  if (numbers.length > 0 && !numbers.includes(guard.number)) continue;
  const outcome = await outcomeOf(guard);
  console.log(`${guard.number} ${outcome}: ${guard.file}`);
  if (outcome === 'SURVIVED') survivors.push(guard.number);
}
if (survivors.length > 0) {
  console.error(`Broken without a test that fails: ${survivors.join(', ')}`);
  process.exitCode = 1;
}

/** A program that a broken guard keeps busy for ever was noticed, too, and is shown as that. */
type Outcome = 'killed' | 'killed, it hung' | 'SURVIVED';

async function outcomeOf({ number, file, code, broken }: Guard): Promise<Outcome> {
  const path = join(root, file);
  const source = readFileSync(path, 'utf8');
  if (source.split(code).length !== 2) throw new Error(`${file}: not once: ${code}`);
  putBack = () => writeFileSync(path, source);
  try {
    writeFileSync(
      path,
      source.replace(code, () => broken),
    );
    return await outcomeOfTests(number);
  } finally {
    putBack();
    putBack = () => undefined;
  }
}

/** The files, and a pattern of the titles in them. */
interface Tests {
  readonly files: readonly string[];
  readonly titles: string;
}

function testsOf(number: string): Tests {
  const promised = PROMISES.find(({ id }) => id === number);
  return promised
    ? { files: promised.tests.map(({ file }) => file), titles: patternOf(promised.tests) }
    : { files: testsOfThreat(number), titles: `\\b${number}\\b` };
}

/** The start of a title is enough: what a case puts into it, and quotation marks, end it. */
function patternOf(tests: readonly { readonly title: string }[]): string {
  return tests.map(({ title }) => /^[\w ,:]+/.exec(title)?.[0].trim()).join('|');
}

/** Tests that need a build or a browser are not among them. The cells of the page are padded. */
function testsOfThreat(number: string): string[] {
  const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const [, , , tests = ''] = rows.find(([, first]) => first === number) ?? [];
  const files = [...tests.matchAll(/`([^`]+\.test\.tsx?)`/g)].map(([, name = '']) => name);
  // Without files all tests of the repository would be run.
  if (files.length === 0) throw new Error(`docs/threats.md names no such test of ${number}`);
  return files;
}

/** It runs the tests of this number alone. */
async function outcomeOfTests(number: string): Promise<Outcome> {
  const { files, titles } = testsOf(number);
  const dir = mkdtempSync(join(tmpdir(), 'callboard-threats-'));
  const report = join(dir, 'report.json');
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const asked = ['run', ...files, '-t', titles, '--testTimeout', '20000'];
  const child = spawn(
    process.execPath,
    [vitest, ...asked, '--reporter', 'json', '--outputFile', report],
    { cwd: root, stdio: 'ignore' },
  );
  const giveUp = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS);
  await once(child, 'exit');
  clearTimeout(giveUp);
  const isHung = child.signalCode !== null;
  const { numFailedTests, numPassedTests } = isHung
    ? { numFailedTests: 1, numPassedTests: 0 }
    : outcomeSchema.parse(JSON.parse(readFileSync(report, 'utf8')));
  rmSync(dir, { recursive: true });
  if (numFailedTests + numPassedTests === 0) throw new Error(`No test of ${number} was run`);
  if (isHung) return 'killed, it hung';
  return numFailedTests > 0 ? 'killed' : 'SURVIVED';
}
