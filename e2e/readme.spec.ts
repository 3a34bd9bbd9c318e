import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from './fixtures.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const blocks = (text: string) =>
  [...text.matchAll(/```\w*\n([\s\S]*?)```/g)].map(([, code]) => code ?? '');
const headings = (text: string) => text.split('\n').filter((line) => /^#{1,3} /.test(line)).length;

test('the README shows the example as it is, and the Chinese one the same code', () => {
  const [english, chinese] = [read('README.md'), read('README.zh-CN.md')];
  const example = read('examples/ws-tool.mjs').replace(/^(?:\/\/.*\n)+/, '');
  expect(blocks(english)).toContain(example);
  expect(blocks(chinese)).toContain(example);
  expect(headings(chinese)).toBe(headings(english));
  expect(blocks(chinese)).toHaveLength(blocks(english).length);
});

test('the example of the README is a tool that can be called', async ({ callboard }) => {
  const url = `${callboard.url.replace('http', 'ws')}/ws/client`;
  const program = spawn(process.execPath, [join(ROOT, 'examples', 'ws-tool.mjs'), url], {
    env: { ...process.env, CALLBOARD_TOKEN: callboard.token },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  try {
    const roll = () =>
      callboard.http('POST', '/v1/tools/dice.roll/invoke', {
        run_id: 'run_readme',
        args: { sides: 2 },
        wait_ms: 5_000,
      });
    await expect.poll(async () => (await roll()).status).toBe(200);
    expect((await roll()).body).toMatchObject({
      status: 'SUCCEEDED',
      card: { status: 'SUCCESS', tip: 'Rolling…', client_name: 'Dice' },
    });
  } finally {
    program.kill();
  }
});

test('the curl command of the README answers', async ({ callboard }) => {
  const command = blocks(read('README.md')).find((code) => code.includes('calculation.eval')) ?? '';
  const script = command
    .split('\n')
    .filter((line) => !line.startsWith('export'))
    .join('\n')
    .replaceAll('http://127.0.0.1:3000', callboard.url);
  const shell = spawn('bash', ['-ec', script], {
    env: { ...process.env, CALLBOARD_TOKEN: callboard.token },
  });
  let printed = '';
  shell.stdout.on('data', (data) => {
    printed += data;
  });
  await new Promise((resolve) => shell.on('close', resolve));
  expect(printed).toContain('"value":42');
});
