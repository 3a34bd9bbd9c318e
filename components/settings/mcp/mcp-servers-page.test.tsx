// @vitest-environment happy-dom
import { act, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import type { WireMcpServer } from '#lib/protocol/mcp-server';
import {
  createTestWorkbench,
  personWith,
  press,
  renderIn,
} from '../../tool-call/testing/in-workbench.tsx';
import { McpServersPage } from './mcp-servers-page.tsx';

const tool = (name: string) => ({
  ...{ name: `files.${name}`, foreign_name: name, effect: 'ask' as const },
  ...{ is_default: true, is_withheld: false },
});

const SERVER: WireMcpServer = {
  ...{ id: 'files', transport: 'stdio', target: 'npx', state: 'connected', next_try_at: null },
  ...{ protocol: '2026-07-28', era: 'modern', server: { name: 'Files', version: '1.0' } },
  ...{ last_error: null, stderr_tail: 'It is\u202e ready', changes: [], rejected: [] },
  tools: [{ ...tool('read'), effect: 'allow', is_default: false }, tool('write')],
};

const spec = (description: string, hash: string) => ({
  ...{ name: 'files.write', description, parameters: { type: 'object' }, hash },
});
const CHANGED: WireMcpServer = {
  ...SERVER,
  tools: [{ ...tool('write'), is_withheld: true }],
  changes: [{ tool: spec('Writes, and sends', 'new'), before: spec('Writes a file', 'old') }],
  rejected: [{ name: 'bomb', code: 'schema_too_deep', message: 'It is too deep.' }],
  rejected_count: 3,
};

async function setup(
  servers: readonly WireMcpServer[],
  role: 'viewer' | 'operator' = 'operator',
  after: WireMcpServer = SERVER,
) {
  const { workbench, sent } = createTestWorkbench(({ path }) => ({
    status: 200,
    body: path === '/v1/mcp-servers' ? { servers } : after,
  }));
  workbench.me.setState({ me: personWith(role) });
  await act(async () => void renderIn(workbench, <McpServersPage />));
  return { sent, text: () => document.body.textContent };
}

test('a server is shown with its state, its tools and what becomes of their calls', async () => {
  const { text } = await setup([SERVER]);
  expect(screen.getByTestId('mcp-state').textContent).toBe('Connected');
  expect(text()).toContain('Files 1.0, MCP 2026-07-28');
  expect(text()).toContain('files.readruns without a question');
  expect(text()).toContain('asks a person: the configuration does not name it');
  // What the program wrote has its hidden characters as marks.
  expect(document.querySelector('pre [role="img"]')).not.toBeNull();
});

test('a lost server shows when it is tried again, and why it was lost', async () => {
  const at = Date.now() / 1_000;
  const error = { message: 'spawn npx ENOENT', at };
  await setup([{ ...SERVER, state: 'failed', next_try_at: at + 30, last_error: error }]);
  expect(screen.getByTestId('mcp-state').textContent).toMatch(/^Not reached · Next attempt in /);
  expect(document.body.textContent).toContain('spawn npx ENOENT');
});

test('a change is compared and accepted by the hash that was seen', async () => {
  const { sent, text } = await setup([CHANGED]);
  expect(document.querySelector('del')?.textContent).toBe('Writes a file');
  expect(document.querySelector('ins')?.textContent).toBe('Writes, and sends');
  expect(text()).toContain('It is too deep.');
  expect(text()).toContain('and 2 more');
  await press('Accept the change of files.write');
  expect(sent.at(-1)).toMatchObject({
    ...{ path: '/v1/mcp-servers/files/accept', body: { tools: ['new'] } },
  });
  expect(document.querySelector('del')).toBeNull();
});

test('a server is connected anew by its button', async () => {
  const { sent } = await setup([SERVER], 'operator', { ...SERVER, state: 'connecting' });
  await press('Connect files anew');
  expect(sent.at(-1)).toMatchObject({ path: '/v1/mcp-servers/files/reconnect' });
  expect(screen.getByTestId('mcp-state').textContent).toBe('Connecting…');
});

test('a viewer reads, and has no buttons', async () => {
  await setup([CHANGED], 'viewer');
  expect(document.querySelector('del')).not.toBeNull();
  expect(screen.queryAllByRole('button')).toEqual([]);
});

test('[MC71] an answer that takes longer than the next reading is shown, and two at most are under way', async () => {
  vi.useFakeTimers();
  const held: ((state: WireMcpServer['state']) => Promise<void>)[] = [];
  const { workbench } = createTestWorkbench(
    () =>
      new Promise((resolve) => {
        held.push((state) =>
          act(async () => {
            resolve({ body: { servers: [{ ...SERVER, state }] } });
            await vi.advanceTimersByTimeAsync(1);
          }),
        );
      }),
  );
  renderIn(workbench, <McpServersPage />);
  for (let tick = 0; tick < 4; tick += 1) await act(() => vi.advanceTimersByTimeAsync(3_000));
  expect(held.length).toBe(2);
  await held[0]?.('connecting');
  expect(screen.getByTestId('mcp-state').textContent).toBe('Connecting…');
  // What was due meanwhile is asked for now, and its answer stays when an older one comes.
  expect(held.length).toBe(3);
  await held[2]?.('connected');
  await held[1]?.('failed');
  expect(screen.getByTestId('mcp-state').textContent).toBe('Connected');
});
