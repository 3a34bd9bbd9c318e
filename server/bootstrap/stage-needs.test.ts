import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const moduleOf = (name: string) =>
  JSON.stringify(pathToFileURL(join(import.meta.dirname, name)).href);

/** A launcher whose first need takes for ever. */
const LAUNCHER = `
  import { runChild } from ${moduleOf('run-child.mjs')};
  import { ensureNeeds } from ${moduleOf('stage-needs.mjs')};
  const args = ['--eval', 'console.log("ready"); setInterval(() => {}, 1_000)'];
  const child = { command: process.execPath, args, env: process.env, cwd: '.' };
  const ways = {
    build: async () => (await runChild(child), { problem: 'it was cut short' }),
    chromium: async () => (console.log('went on'), { env: {} }),
  };
  await ensureNeeds(['build', 'chromium'], { node: '', env: {}, npmCli: undefined }, ways);
`;

test('asked to end, it ensures nothing more and starts no stage', async () => {
  const launcher = spawn(process.execPath, ['--input-type=module', '--eval', LAUNCHER], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void launcher.kill('SIGKILL'));
  launcher.stdout.once('data', () => launcher.kill('SIGTERM'));
  const [output, [code]] = await Promise.all([text(launcher.stdout), once(launcher, 'exit')]);
  expect(output).not.toContain('went on');
  expect(code).toBe(1);
});
