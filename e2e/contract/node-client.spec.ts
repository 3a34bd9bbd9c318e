import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Callboard } from '../start-callboard.ts';
import { get } from './kit/ask.ts';
import { finalCall, invoke } from './kit/calls.ts';
import { expect, test } from './kit/contract-test.ts';

const MODULE = resolve(import.meta.dirname, '../../lib/client/node/node-client.ts');

/** A program that opens a door by writing a line, and ends itself with SIGKILL where it is told to. */
const program = ({ dies, dir, board }: { dies: Death; dir: string; board: Callboard }) => `
  import { appendFileSync } from 'node:fs';
  const { createNodeToolClient } = await import(${JSON.stringify(MODULE)});
  const die = () => process.kill(process.pid, 'SIGKILL');
  class DyingWebSocket extends WebSocket {
    send(text) {
      if (${JSON.stringify(dies)} === 'before it sends' && text.includes('"tool_result"')) die();
      else super.send(text);
    }
  }
  const client = await createNodeToolClient({
    url: ${JSON.stringify(board.url)},
    token: ${JSON.stringify(board.token)},
    name: 'door',
    dataDir: ${JSON.stringify(join(dir, 'client'))},
    WebSocket: DyingWebSocket,
    tools: [{
      name: 'door.open',
      description: 'Opens the door.',
      parameters: { type: 'object' },
      async run() {
        appendFileSync(${JSON.stringify(join(dir, 'effects'))}, 'opened\\n');
        if (${JSON.stringify(dies)} === 'while it runs') {
          die();
          await new Promise(() => {});
        }
        return { output: 'open' };
      },
    }],
  });
  await client.start();`;

type Death = 'never' | 'while it runs' | 'before it sends';

async function offersTheTool(board: Callboard): Promise<boolean> {
  return (await get(board, '/v1/tools')).text.includes('"door.open"');
}

for (const { dies, ends } of [
  {
    dies: 'while it runs',
    ends: { status: 'FAILED', error: { code: 'outcome_unknown', executed: 'unknown' } },
  },
  { dies: 'before it sends', ends: { status: 'SUCCEEDED', result: 'open' } },
] as const) {
  test(`§2 a Node program killed ${dies} and started again: ${ends.status}, and the tool ran once`, async ({
    startServer,
  }) => {
    const board = await startServer();
    const dir = await mkdtemp(join(tmpdir(), 'callboard-node-client-'));
    const start = (death: Death) =>
      spawn(process.execPath, ['--input-type=module', '-e', program({ dies: death, dir, board })], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    const first = start(dies);
    const gone = once(first, 'exit');
    await expect.poll(() => offersTheTool(board)).toBe(true);
    const id = await invoke(board, 'door.open');
    expect((await gone)[1]).toBe('SIGKILL');
    const second = start('never');
    expect(await finalCall(board, id)).toMatchObject(ends);
    await expect.poll(() => offersTheTool(board)).toBe(true);
    const again = await invoke(board, 'door.open');
    expect(await finalCall(board, again)).toMatchObject({ status: 'SUCCEEDED', result: 'open' });
    const file = join(dir, 'effects');
    expect(existsSync(file) && readFileSync(file, 'utf8')).toBe('opened\nopened\n');
    const ended = once(second, 'exit');
    second.kill('SIGKILL');
    await ended;
    await rm(dir, { recursive: true });
  });
}
