// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import type { CreatedToken } from '#lib/protocol/token';
import type { WatchEvent } from '#lib/protocol/watch-messages';
import {
  createTestWorkbench,
  personWith,
  press,
  renderIn,
} from '../tool-call/testing/in-workbench.tsx';
import { ConnectPage } from './connect-page.tsx';

const CREATED: CreatedToken = {
  ...{ id: 'tok_1', kind: 'agent', name: 'coder', role: null, tools: [], client_id: null },
  ...{ built_in: false, created_at: 1, created_by: 'operator', last_used_at: null },
  ...{ revoked_at: null, secret: 'cb_agent_secret' },
};

async function setup(role: 'admin' | 'operator' = 'admin') {
  const { workbench, sent } = createTestWorkbench(() => ({ status: 201, body: CREATED }));
  workbench.me.setState({ me: personWith(role) });
  await act(async () => void renderIn(workbench, <ConnectPage />));
  return { sent, workbench };
}

async function create() {
  const shown = await setup();
  fireEvent.change(screen.getByRole('textbox', { name: 'Name' }), { target: { value: 'coder' } });
  await press('Create');
  return shown;
}

test('a program gets a token of its own, and each snippet has it', async () => {
  const { sent } = await create();
  expect(sent.at(-1)?.body).toEqual({ kind: 'agent', name: 'coder', tools: [] });
  expect(document.activeElement?.textContent).toBe('coder can connect');
  const text = () => document.querySelector('pre')?.textContent ?? '';
  expect(text()).toContain('claude mcp add --transport http');
  expect(text()).toContain('Bearer cb_agent_secret');
  fireEvent.click(screen.getByRole('radio', { name: 'opencode' }));
  expect(text()).toContain('"type": "remote"');
  fireEvent.click(screen.getByRole('radio', { name: 'VS Code' }));
  expect(document.body.textContent).toContain('the token, which VS Code asks for');
});

test('a snippet is copied as it is shown, and the token is gone when it is hidden', async () => {
  const copied: string[] = [];
  vi.stubGlobal('navigator', {
    ...navigator,
    clipboard: { writeText: async (text: string) => void copied.push(text) },
  });
  await create();
  await press('Copy: in a terminal');
  expect(copied).toEqual([document.querySelector('pre')?.textContent]);
  expect(screen.getAllByRole('status').map(({ textContent }) => textContent)).toContain('Copied.');
  await press('Done, hide it');
  expect(document.body.textContent).not.toContain('cb_agent_secret');
  await press('Connect another');
  expect(screen.getByRole('textbox', { name: 'Name' })).toBeDefined();
});

const called = (id: string, caller: string, at: number): WatchEvent => ({
  ...{ type: 'call', seq: at, tool_call_id: id, run_id: 'run_1' },
  update: { tool_name: 'camera.photo', requested_by: caller, created_at: at },
});

test('[MP45] the page shows the first call of the program as soon as it comes, and no other call', async () => {
  const { workbench } = await create();
  const text = () => screen.getByTestId('first-call').textContent;
  const come = (...events: WatchEvent[]) =>
    act(async () => workbench.calls.getState().apply(events));
  // A program of that name, whose token was revoked since, and another.
  await come(called('tc_old', 'agent:coder', 0.5), called('tc_2', 'agent:other', 2));
  expect(text()).toContain('Waiting for its first call');
  await come(called('tc_3', 'agent:coder', 3), called('tc_4', 'agent:coder', 4));
  expect(text()).toContain('The first call of coder was received: camera.photo.');
  const link = screen.getByRole('link', { name: 'Show it' });
  expect(link.getAttribute('href')).toBe('/?run=run_1#call=tc_3');
  expect(screen.getByTestId('first-call').getAttribute('role')).toBe('status');
  fireEvent.click(link);
  expect(workbench.ui.getState().panel).toBe('live');
});

test('who is no administrator reads that it takes one', async () => {
  await setup('operator');
  expect(document.body.textContent).toContain('This page is for administrators.');
  expect(screen.queryByRole('textbox')).toBeNull();
});
