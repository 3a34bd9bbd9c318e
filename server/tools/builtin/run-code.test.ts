import { expect, test, vi } from 'vitest';
import { bundledWorker } from '../../testing/bundled-worker.ts';
import { ToolError } from '../define-tool.ts';
import { runBuiltin } from '../testing/run-builtin.ts';
import { createRunCode } from './run-code.ts';

const PATIENCE_MS = 240_000;
vi.setConfig({ testTimeout: PATIENCE_MS });

const workerPath = bundledWorker('run-code-worker.mjs');
// A machine may be busy; what is about time has tools of its own.
const tool = createRunCode({ workerPath, runMs: PATIENCE_MS, timeoutMs: PATIENCE_MS });
const run = (code: string, input?: unknown) => runBuiltin(tool, { code, input });
const failure = (code: string, message: RegExp) =>
  expect(run(code), code).rejects.toSatisfy((error: unknown) => {
    expect(error).toBeInstanceOf(ToolError);
    expect(error).toMatchObject({ message: expect.stringMatching(message) });
    return true;
  });

test('[TB19] a program gives what it returns, and its lines are shown as they come', async () => {
  const shown: unknown[] = [];
  const code = `
    console.log('one', { a: 1 }, 2n);
    const sum = await Promise.all([1, 2, input.more].map(async (n) => n * 2));
    console.warn(new TypeError('odd'));
    return { sum, nothing: undefined };`;
  const status = (update: unknown) => shown.push(update);
  const output = await runBuiltin(tool, { code, input: { more: 3 } }, { status });
  const lines = ['one {"a":1} 2', 'TypeError: odd'];
  expect(output).toEqual({ result: { sum: [2, 4, 6] }, console: lines });
  expect(shown).toEqual([
    { tip: 'Running a program' },
    { tip: lines[0], preview: { console: lines[0] } },
    { tip: lines[1], preview: { console: lines.join('\n') } },
  ]);
});

test('[TB19] what a program throws, or cannot give, is an error with its lines', async () => {
  await failure(
    "console.log('before'); throw new RangeError('too far')",
    /RangeError: too far\nconsole:\nbefore/,
  );
  await failure('return (', /SyntaxError/);
  await failure('throw 5', /^5$/);
  await failure('const a = {}; a.a = a; return a', /circular/i);
  await failure('await new Promise(() => {})', /never comes/);
  await failure("return 'x'.repeat(300_000)", /has 300002 characters/);
  await failure('let a = []; for (let n = 0; n < 100; n++) a = [a]; return a', /nested too deep/);
});

test('[TB19] nothing of the host can be reached', async () => {
  const names = [
    'process',
    'require',
    'fetch',
    'setTimeout',
    'send',
    'module',
    'Buffer',
    'WebAssembly',
  ];
  const types = `return [${names.map((name) => `typeof ${name}`).join(', ')}]`;
  expect(await run(types)).toMatchObject({ result: names.map(() => 'undefined') });
  const escapes = [
    "return console.log.constructor('return typeof process')()",
    'return (function () { return typeof this.process })()',
    "return [].filter.constructor('return typeof globalThis.require')()",
    "return (0, eval)('typeof process')",
    "try { return (() => {}).constructor.constructor('return process')().pid } catch { return 'undefined' }",
  ];
  for (const code of escapes) expect(await run(code), code).toMatchObject({ result: 'undefined' });
  await failure("return import('node:fs')", /./);
  // Out of the function that it is put into it comes, and into nothing else.
  expect(await run('return 1 }, 5); (async () => { console.log(typeof process)')).toMatchObject({
    result: 1,
  });
});

test('[TB19] what is logged is bounded', async () => {
  const output = await run("for (let n = 0; n < 100_000; n++) console.log('0123456789'); return 1");
  expect(JSON.stringify(output).length).toBeLessThan(25_000);
});

test('[TB19] thousands of lines are shown in few updates, so that showing them is little work', async () => {
  const shown: unknown[] = [];
  const code = 'for (let n = 0; n < 20_000; n++) console.log(""); return 1';
  await runBuiltin(tool, { code }, { status: (update) => shown.push(update) });
  expect(shown.length).toBeGreaterThan(1);
  expect(shown.length).toBeLessThan(70);
});

test('[TB20] a program that takes too much memory ends', async () => {
  await failure('const all = []; for (;;) all.push(new Uint8Array(1_000_000))', /memory/);
  await failure("let text = 'x'; for (;;) text += text", /./);
  await failure('const f = () => f() + 1; return f()', /./);
});

test('[TB20] a program that runs too long ends, however it hides', async () => {
  const short = createRunCode({ workerPath, runMs: 200, timeoutMs: PATIENCE_MS });
  for (const code of [
    'for (;;) {}',
    'for (;;) { try { for (;;) {} } catch {} }',
    'const f = () => Promise.resolve().then(f); await f()',
    'return { get a() { for (;;) {} } }',
  ]) {
    await expect(runBuiltin(short, { code }), code).rejects.toThrow(/longer than 200 ms/);
  }
});

test('[TB20] a thread that does not stop by itself is ended, and a cancelled one too', async () => {
  const hard = createRunCode({ workerPath, runMs: PATIENCE_MS, timeoutMs: 1_000 });
  const endless = { code: "console.log('on'); for (;;) {}" };
  await expect(runBuiltin(hard, endless)).rejects.toThrow(/stopped before it ended/);
  const cancel = new AbortController();
  const status = ({ tip }: { tip?: string }) => tip === 'on' && cancel.abort();
  const asking = runBuiltin(tool, endless, { signal: cancel.signal, status });
  await expect(asking).rejects.toThrow(/stopped before it ended/);
});
