import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { TestInfo } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { configFile } from './support/config-file.ts';
import { cardOf, signIn, untilReady } from './support/workbench.ts';

const PROGRAM = resolve(import.meta.dirname, '../server/mcp-client/testing/fixture-program.ts');

const tool = (name: string, description: string) => ({
  ...{ name, description, inputSchema: { type: 'object', properties: {} } },
});
const STEPS = tool('steps', 'Reports its progress');
const ANNOUNCE = tool('announce', 'Announces a change');

/** A server with a program of MCP that lists the tools of a file. */
async function withProgram(testInfo: TestInfo, tools: Readonly<Record<string, string>> = {}) {
  const file = join(testInfo.outputDir, 'tools.json');
  const list = (...now: object[]) => writeFile(file, JSON.stringify(now));
  await mkdir(testInfo.outputDir, { recursive: true });
  await list(STEPS, tool('send', 'Sends a mail'), ANNOUNCE);
  const args = ['--disable-warning=ExperimentalWarning', PROGRAM, 'modern', file];
  const mail = { command: process.execPath, args, tools };
  const config = await configFile(testInfo, { mcp_servers: { mail } });
  return { list, options: { env: { CALLBOARD_CONFIG: config } } };
}

test('[MC6] [MC4] [MC32] an agent’s call of a tool of another server waits for a yes, runs with its progress, and is recorded', async ({
  page,
  startServer,
}, testInfo) => {
  const { options } = await withProgram(testInfo);
  const board = await startServer(options);
  const made = await board.http('POST', '/v1/tokens', {
    ...{ kind: 'agent', name: 'coder', tools: ['mail.*'] },
  });
  const { secret } = Object(made.body);
  await signIn(page, board);
  await untilReady(page);
  const asked = await fetch(`${board.url}/v1/tools/mail.steps/invoke`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ run_id: 'run_1', args: {} }),
  });
  expect(asked.status).toBe(202);
  const { tool_call_id: id } = Object(await asked.json());
  const card = cardOf(page, id);
  await expect(card).toContainText('mcp_servers');
  await card.getByRole('button', { name: 'Allow once' }).click();
  await expect(card).toContainText('Step 3');
  await expect(card).toHaveAttribute('data-status', 'SUCCESS');
  const { body } = await board.http('GET', `/v1/tool_calls/${id}`);
  expect(body).toMatchObject({ source: 'mcp', status: 'SUCCEEDED', result: 'stepped' });
  expect(Object(body).card.progress).toEqual({ done: 3, total: 3 });
  const seen = await fetch(`${board.url}/v1/mcp-servers`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  expect(seen.status).toBe(403);
});
