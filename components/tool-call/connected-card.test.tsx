// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { Toaster } from '#components/ui/toast';
import type { CardUpdate } from '#lib/protocol/card';
import type { WatchEvent } from '#lib/protocol/watch-messages';
import { ConnectedCard } from './connected-card.tsx';
import { type Answer, createTestWorkbench, InWorkbench } from './testing/in-workbench.tsx';
import { useCardActions } from './use-card-actions.tsx';

afterEach(() => {
  cleanup();
  window.location.hash = '';
});

function Card() {
  const { actions, dialog } = useCardActions();
  return (
    <>
      <ConnectedCard callId="tc_1" isStale={false} actions={actions} />
      {dialog}
      <Toaster label="Messages" />
    </>
  );
}

const clientsEvent = (seq: number, responsive: boolean): WatchEvent => ({
  type: 'clients',
  seq,
  clients: [
    {
      client_id: 'c',
      name: 'Phone',
      kind: 'phone',
      connected: true,
      visible: true,
      responsive,
      caps: [],
      tools: [],
      connected_at: 1,
    },
  ],
});

function setup(update: CardUpdate, answer: (path: string) => Answer | Promise<Answer>) {
  const { workbench, sent } = createTestWorkbench(({ path }) => answer(path));
  const tell = (seq: number, more: CardUpdate) =>
    workbench.calls
      .getState()
      .apply([{ type: 'call', seq, tool_call_id: 'tc_1', run_id: 'run_1', update: more }]);
  tell(1, { tool_name: 'file.read', source: 'server', params: {}, ...update });
  render(
    <InWorkbench workbench={workbench}>
      <Card />
    </InWorkbench>,
  );
  return { sent, tell, workbench };
}

const running: CardUpdate = { status: 'DOING', phase: 'granted' };
const failed: CardUpdate = {
  status: 'ERROR',
  error: { code: 'no_provider', message: 'nobody', executed: 'no' },
};
const refusal = { status: 409, body: { error: { code: 'already_final', message: 'It is over.' } } };

test('cancel is said at once, asked of the server, and followed by the card', async () => {
  let release: (answer: Answer) => void = () => {};
  const held = new Promise<Answer>((resolve) => {
    release = resolve;
  });
  const { sent, tell } = setup(running, () => held);
  fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  expect(screen.getByRole('button', { name: 'Asked to stop' })).toBeDefined();
  expect(sent.map(({ path }) => path)).toEqual(['/v1/tool_calls/tc_1/cancel']);
  await act(async () => release({ body: {} }));
  act(() => tell(2, { status: 'DOING', phase: 'cancelling' }));
  expect(screen.getByTestId('tool-card').dataset).toMatchObject({ phase: 'cancelling', seq: '2' });
});

test('a cancel that the server refuses is taken back and told', async () => {
  setup(running, () => refusal);
  await act(async () => fireEvent.click(screen.getByRole('button', { name: 'Cancel' })));
  expect(screen.getByRole('button', { name: 'Cancel' })).toBeDefined();
  expect(await screen.findByText('It is over.')).toBeDefined();
});

test('retry makes a new call and points to it', async () => {
  const { sent } = setup(failed, () => ({ body: { tool_call_id: 'tc_2' } }));
  await act(async () => fireEvent.click(screen.getByRole('button', { name: 'Retry' })));
  expect(sent).toEqual([{ path: '/v1/tool_calls/tc_1/retry', body: {} }]);
  expect(window.location.hash).toBe('#call=tc_2');
});

test('a card renders again only for its own call', () => {
  const { workbench } = setup(running, () => ({ body: {} }));
  const before = screen.getByTestId('tool-card').outerHTML;
  act(() =>
    workbench.calls.getState().apply([
      {
        type: 'call',
        seq: 9,
        tool_call_id: 'tc_other',
        run_id: 'run_1',
        update: { status: 'WAIT', params: {} },
      },
    ]),
  );
  expect(screen.getByTestId('tool-card').outerHTML).toBe(before);
});

test('what the model got is told from the record, word by word', async () => {
  const record = {
    tool_name: 'file.read',
    status: 'SUCCEEDED',
    result: 'for the model\u200b only',
    error: null,
    attachments: [],
  };
  setup({ status: 'SUCCESS', result: 'for people' }, () => ({ body: record }));
  const menu = screen.getByRole('button', { name: 'More for file.read' });
  fireEvent.keyDown(menu, { key: 'Enter' });
  await act(async () => {
    fireEvent.click(screen.getByRole('menuitem', { name: 'What the model got' }));
  });
  expect((await screen.findByTestId('model-output')).textContent).toBe('for the model only');
});

test('[CD15] a card says that its client does not answer, and no longer once it does', () => {
  const { workbench } = setup(
    { ...running, source: 'client', client_id: 'c', client_name: 'Phone' },
    () => ({
      body: {},
    }),
  );
  const tell = (responsive: boolean, seq: number) =>
    act(() => workbench.listings.getState().apply([clientsEvent(seq, responsive)]));
  expect(screen.queryByText(/Phone does not answer/)).toBeNull();
  tell(false, 2);
  expect(screen.getByText(/Phone does not answer/)).toBeDefined();
  tell(true, 3);
  expect(screen.queryByText(/Phone does not answer/)).toBeNull();
});
