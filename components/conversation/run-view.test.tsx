// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { createTestWorkbench, InWorkbench } from '../tool-call/testing/in-workbench.tsx';
import { RunView } from './run-view.tsx';

afterEach(cleanup);

const MESSAGE = {
  message_id: 'm_1',
  run_id: 'run_1',
  role: 'user',
  status: 'done',
  parts: [{ type: 'text', text: 'How high is the tide?' }],
  created_at: 1,
};
const RUN = {
  run_id: 'run_1',
  title: 'Tides',
  status: 'idle',
  model: null,
  step: 0,
  max_steps: 10,
  error: null,
  created_at: 1,
  updated_at: 1,
  messages: [MESSAGE],
};

/** The view of a conversation that no event of the feed was about. */
async function setup(locale: 'en' | 'zh' = 'en') {
  const server: { refusal: { status: number; code: string } | null } = { refusal: null };
  const { workbench, sent } = createTestWorkbench(() => {
    const { refusal } = server;
    if (!refusal) return { body: RUN };
    return { status: refusal.status, body: { error: { code: refusal.code, message: 'No.' } } };
  });
  const connect = () =>
    act(async () => workbench.connection.setState({ feed: { kind: 'connected' } }));
  const disconnect = () =>
    act(async () =>
      workbench.connection.setState({ feed: { kind: 'reconnecting', attempt: 1, retryAt: 0 } }),
    );
  workbench.listings.setState({ known: true });
  const show = async () => {
    render(
      <InWorkbench workbench={workbench} locale={locale}>
        <RunView runId="run_1" onSend={async () => null} />
      </InWorkbench>,
    );
    await connect();
  };
  return { server, sent, connect, disconnect, show };
}

test('a conversation that could not be fetched says why, and is fetched again when that is wished', async () => {
  const { server, show } = await setup('zh');
  server.refusal = { status: 429, code: 'rate_limited' };
  await show();
  const again = await screen.findByRole('button', { name: '重试' });
  expect(screen.queryByText('正在加载…')).toBeNull();
  server.refusal = null;
  fireEvent.click(again);
  expect(await screen.findByText('How high is the tide?')).toBeDefined();
});

test('a conversation that could not be fetched is fetched when the connection is back', async () => {
  const { server, show, connect, disconnect } = await setup();
  server.refusal = { status: 503, code: 'shutting_down' };
  await show();
  expect(await screen.findByText('shutting_down')).toBeDefined();
  await disconnect();
  server.refusal = null;
  await connect();
  expect(await screen.findByText('How high is the tide?')).toBeDefined();
});

test('a conversation that does not exist is not tried again', async () => {
  const { server, show } = await setup();
  server.refusal = { status: 404, code: 'run_not_found' };
  await show();
  expect(await screen.findByText('run_not_found')).toBeDefined();
  expect(screen.queryByRole('button', { name: 'Try again' })).toBeNull();
});
