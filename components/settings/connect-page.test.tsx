// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import type { CreatedToken } from '#lib/protocol/token';
import {
  createTestWorkbench,
  InWorkbench,
  personWith,
} from '../tool-call/testing/in-workbench.tsx';
import { ConnectPage } from './connect-page.tsx';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const CREATED: CreatedToken = {
  ...{ id: 'tok_1', kind: 'agent', name: 'coder', role: null, tools: [], client_id: null },
  ...{ built_in: false, created_at: 1, created_by: 'operator', last_used_at: null },
  ...{ revoked_at: null, secret: 'cb_agent_secret' },
};

async function setup(role: 'admin' | 'operator' = 'admin') {
  const { workbench, sent } = createTestWorkbench(() => ({ status: 201, body: CREATED }));
  workbench.me.setState({ me: personWith(role) });
  await act(async () => {
    render(
      <InWorkbench workbench={workbench}>
        <ConnectPage />
      </InWorkbench>,
    );
  });
  return { sent };
}

const press = (name: string) =>
  act(async () => {
    fireEvent.click(screen.getByRole('button', { name }));
  });

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
  expect(screen.getByRole('status').textContent).toBe('Copied.');
  await press('Done, hide it');
  expect(document.body.textContent).not.toContain('cb_agent_secret');
  await press('Connect another');
  expect(screen.getByRole('textbox', { name: 'Name' })).toBeDefined();
});

test('who is no administrator reads that it takes one', async () => {
  await setup('operator');
  expect(document.body.textContent).toContain('This page is for administrators.');
  expect(screen.queryByRole('textbox')).toBeNull();
});
