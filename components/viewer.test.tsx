// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, renderHook, screen } from '@testing-library/react';
import { NuqsTestingAdapter } from 'nuqs/adapters/testing';
import type { ReactNode } from 'react';
import { beforeEach, expect, test, vi } from 'vitest';
import type { CardUpdate } from '#lib/protocol/card';
import type { Role } from '#lib/protocol/role';
import { run as anyRun, tool as anyTool, message } from '#lib/stores/testing/fixtures';
import { Conversation } from './conversation/conversation.tsx';
import { RunEnd } from './conversation/run-end.tsx';
import { RunSwitcher } from './conversation/run-switcher.tsx';
import { useTabClient } from './providers/tab-client.tsx';
import { useShortcuts } from './shell/app-frame.tsx';
import { usePaletteActions } from './shell/command-palette.tsx';
import { PAGES } from './shell/pages.ts';
import { ShortcutsSheet } from './shell/shortcuts-sheet.tsx';
import { Who } from './shell/who.tsx';
import { ApprovalVoice } from './tool-call/approval-voice.tsx';
import { ConnectedCard } from './tool-call/connected-card.tsx';
import {
  createTestWorkbench,
  InWorkbench,
  personWith,
  renderIn,
} from './tool-call/testing/in-workbench.tsx';
import { useCardActions } from './tool-call/use-card-actions.tsx';
import { useCardKeys } from './tool-call/use-card-keys.ts';
import { TryIt } from './tools/try-it.tsx';

const started = vi.hoisted(() => vi.fn(() => () => {}));
vi.mock('./providers/start-tab-client.ts', () => ({ startTabClient: started }));
vi.mock('next/navigation', () => ({
  useRouter: () => ({ push: () => {}, refresh: () => {} }),
  useSearchParams: () => null,
}));

beforeEach(() => started.mockClear());
const NOTE = /^You are signed in as a viewer/;

function pageOf(role: Role | null) {
  const { workbench, sent } = createTestWorkbench();
  workbench.me.setState({ me: role && personWith(role) });
  const wrapper = ({ children }: { children: ReactNode }) => (
    <NuqsTestingAdapter>
      <InWorkbench workbench={workbench}>{children}</InWorkbench>
    </NuqsTestingAdapter>
  );
  return { workbench, sent, wrapper };
}

const show = async (role: Role | null, view: ReactNode) => {
  const page = pageOf(role);
  await act(async () => void render(view, { wrapper: page.wrapper }));
  return page;
};

const buttons = () => screen.queryAllByRole('button').map((button) => button.textContent);

function Card() {
  const { actions } = useCardActions();
  useCardKeys({ move: () => {}, actions });
  return <ConnectedCard callId="tc_1" isStale={false} actions={actions} />;
}

async function showCard(role: Role | null, update: CardUpdate) {
  const page = pageOf(role);
  const params = { place: 'Cuxhaven' };
  page.workbench.calls.getState().apply([
    {
      ...{ type: 'call', seq: 1, tool_call_id: 'tc_1', run_id: 'run_1' },
      update: { tool_name: 'tide.read', source: 'server', params, ...update },
    },
  ]);
  await act(async () => void render(<Card />, { wrapper: page.wrapper }));
  return page;
}

const LOOKS: [string, CardUpdate, string][] = [
  ['that waits for a decision', { status: 'WAIT', phase: 'approval' }, 'Allow once'],
  ['that runs', { status: 'DOING', phase: 'granted' }, 'Cancel'],
  [
    'that failed',
    { status: 'ERROR', error: { code: 'tool_error', message: 'dry', executed: 'yes' } },
    'Retry',
  ],
  [
    'whose time runs out',
    {
      ...{ status: 'DOING', phase: 'granted', timeout_ms: 1_000 },
      clock: { name: 'execute', deadline_at: 2_000_000_000 },
    },
    '30 s more',
  ],
];

test.each(LOOKS)('[CD28] on a card %s an operator can act', async (_name, update, button) => {
  await showCard('operator', update);
  expect(buttons().join()).toContain(button);
});

test.each(LOOKS)(
  '[CD28] on a card %s a viewer finds nothing to press that would be refused',
  async (_name, update) => {
    const { sent } = await showCard('viewer', update);
    expect(screen.getByTestId('tool-card').textContent).toContain('Cuxhaven');
    const disclosures = buttons().filter((text) => text !== '' && !text?.includes('Cuxhaven'));
    expect(disclosures).toEqual([]);
    await act(async () =>
      fireEvent.keyDown(screen.getByRole('button', { name: /^More/ }), { key: 'Enter' }),
    );
    await screen.findByRole('menu');
    expect(screen.getAllByRole('menuitem').map((item) => item.textContent)).toEqual([
      ...['Copy id', 'Copy as curl', 'Copy as JSON', 'What the model got'],
    ]);
    fireEvent.keyDown(screen.getByRole('menu'), { key: 'Escape' });
    for (const key of ['a', 'd', 'x', 'r']) {
      fireEvent.keyDown(screen.getByTestId('tool-card'), { key });
    }
    expect(sent).toEqual([]);
  },
);

test('[CD28] a viewer is shown who decides, and is not interrupted for it', async () => {
  const { workbench } = await showCard('viewer', { status: 'WAIT', phase: 'approval' });
  expect(screen.getByText('An operator or administrator decides on this call.')).toBeDefined();
  cleanup();
  const asked = { run_id: 'run_1', expires_at: 0, reason: '' };
  const listed = { ...asked, tool_call_id: 'tc_1', tool_name: 'tide.read' };
  workbench.listings.setState({ approvals: [listed] });
  const voice = () => {
    renderIn(workbench, <ApprovalVoice />);
    return screen.getByRole('alert').textContent;
  };
  expect(voice()).toBe('');
  cleanup();
  workbench.me.setState({ me: personWith('operator') });
  expect(voice()).toBe('tide.read needs approval.');
});

test('until it is known who is signed in, a card offers nothing', async () => {
  await showCard(null, { status: 'WAIT', phase: 'approval' });
  expect(buttons().join()).not.toContain('Allow');
});

test('a viewer reads the conversation, with the reason why nothing can be sent', async () => {
  await show('viewer', <Conversation />);
  expect(screen.getByText(NOTE)).toBeDefined();
  expect(screen.queryByRole('textbox')).toBeNull();
  expect(screen.queryByText('(2+3)*4')).toBeNull();
  cleanup();
  await show('operator', <Conversation />);
  expect(screen.queryByText(NOTE)).toBeNull();
  expect(screen.getByRole('textbox', { name: 'Message' })).toBeDefined();
  expect(screen.getByText('(2+3)*4')).toBeDefined();
});

test.each<[Role, number]>([
  ['viewer', 0],
  ['operator', 1],
])('how a turn failed is shown to a %s with %d ways to go on', async (role, count) => {
  const run = anyRun('run_1', {
    ...{ status: 'failed', error: { code: 'provider', message: 'no answer' } },
  });
  const asked = message('m', { role: 'user', parts: [{ type: 'text', text: 'hi' }] });
  const resend = async () => false;
  await show(role, <RunEnd run={run} messages={[asked]} onSend={() => {}} resend={resend} />);
  expect(screen.getByTestId('notice').textContent).toContain('no answer');
  expect(screen.queryAllByRole('button')).toHaveLength(count);
});

test.each<[Role, number]>([
  ['viewer', 0],
  ['operator', 1],
])('where a turn came to a limit a %s has %d ways to go on', async (role, count) => {
  const run = anyRun('run_1', { status: 'idle', step: 10 });
  const parts = [{ type: 'notice', code: 'step_limit', text: 'That was the limit.' } as const];
  const last = message('m', { status: 'done', parts });
  const resend = async () => false;
  await show(role, <RunEnd run={run} messages={[last]} onSend={() => {}} resend={resend} />);
  expect(screen.queryAllByRole('button')).toHaveLength(count);
});

const tool = anyTool('tide.read', { model_name: 'tide_read', description: 'The tide.' });

test('a viewer cannot run a tool, and reads why', async () => {
  await show('viewer', <TryIt tool={tool} />);
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Run' }).disabled).toBe(true);
  expect(screen.getByText(NOTE)).toBeDefined();
});

test('neither the palette nor a key leads a viewer to a field that is not there', async () => {
  const names = (role: Role) => {
    const { result } = renderHook(() => usePaletteActions('system'), pageOf(role));
    return result.current.map(({ name }) => name);
  };
  expect(names('operator')).toContain('New conversation');
  expect(names('viewer')).not.toContain('New conversation');
  cleanup();
  const wanted = (role: Role) => {
    const page = pageOf(role);
    renderHook(() => useShortcuts(), page);
    fireEvent.keyDown(document.body, { key: '/', code: 'Slash' });
    return page.workbench.ui.getState().focusMessage;
  };
  expect(wanted('viewer')).toBe(0);
  cleanup();
  expect(wanted('operator')).toBe(1);
});

test('neither the list of keys nor that of conversations offers a viewer what is for others', async () => {
  const names = async (role: Role) => {
    await show(role, <RunSwitcher selected="run_1" onSelect={() => {}} />);
    await show(role, <ShortcutsSheet />);
    const text = document.body.textContent ?? '';
    cleanup();
    return ['New conversation', 'Write a message', 'cancel, go to Retry', 'Next card'].filter(
      (name) => text.includes(name),
    );
  };
  expect(await names('viewer')).toEqual(['Next card']);
  expect(await names('operator')).toHaveLength(4);
});

test('the list of keys names each page of the header', async () => {
  await show('viewer', <ShortcutsSheet />);
  const text = document.body.textContent ?? '';
  expect(PAGES.filter(({ key }) => !text.includes(`g ${key}`))).toEqual([]);
});

test('the tab of a viewer offers no tools; that of others does once it is known who they are', async () => {
  const serve = async (role: Role | null) => {
    const page = pageOf(role);
    renderHook(() => useTabClient(), page);
    await act(async () => void (await import('./providers/start-tab-client.ts')));
    return page;
  };
  await serve('viewer');
  const { workbench } = await serve(null);
  expect(started).not.toHaveBeenCalled();
  await act(async () => workbench.me.setState({ me: personWith('operator') }));
  expect(started).toHaveBeenCalledTimes(1);
});

test('the header names who is signed in, and as what', async () => {
  await show('admin', <Who />);
  const link = screen.getByRole('link', { name: 'Signed in as olga, administrator' });
  expect(link.getAttribute('href')).toBe('/settings/access');
});
