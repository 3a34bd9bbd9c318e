// @vitest-environment happy-dom
import { act, cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { message, run } from '#lib/stores/testing/fixtures';
import { createTestWorkbench, renderIn } from '../tool-call/testing/in-workbench.tsx';
import { RunView } from './run-view.tsx';

const MESSAGE = message('m_1', {
  ...{ role: 'user', status: 'done', parts: [{ type: 'text', text: 'How high is the tide?' }] },
});
const RUN = { ...run('run_1', { status: 'idle', model: null }), messages: [MESSAGE] };

/** The view of a conversation that no event of the feed was about. */
async function setup(locale: 'en' | 'zh' = 'en') {
  const server: {
    refusal: { status: number; code: string } | null;
    more: object;
    page: object;
  } = { refusal: null, more: {}, page: {} };
  const { workbench, sent } = createTestWorkbench(({ path }) => {
    const { refusal, more, page } = server;
    if (!refusal) return { body: path.includes('/messages?') ? page : { ...RUN, ...more } };
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
    renderIn(workbench, <RunView runId="run_1" onSend={async () => null} />, locale);
    await connect();
  };
  return { server, sent, connect, disconnect, show, workbench };
}

test('older messages of a long conversation come by page, each where it belongs', async () => {
  const older = { ...MESSAGE, message_id: 'm_0', parts: [{ type: 'text', text: 'Good day.' }] };
  const { server, sent, show } = await setup();
  server.more = { messages_left_out: 1 };
  server.page = { run_id: 'run_1', messages: [older] };
  await show();
  const more = await screen.findByRole('button', { name: 'Show more' });
  await act(async () => fireEvent.click(more));
  const texts = [await screen.findByText('Good day.'), screen.getByText('How high is the tide?')];
  expect(texts[0]?.compareDocumentPosition(texts[1] as Node)).toBe(4);
  expect(screen.queryByRole('button', { name: 'Show more' })).toBeNull();
  expect(sent.some(({ path }) => path === '/v1/runs/run_1/messages?before=1')).toBe(true);
});

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

test('thoughts are folded, and those without a text are not there', async () => {
  const { server, show } = await setup();
  const thoughts = { message_id: 'm_2', role: 'assistant' };
  const parts = ['', 'The moon is full.'].map((text) => ({ type: 'reasoning', text }));
  server.more = { messages: [MESSAGE, { ...MESSAGE, ...thoughts, parts }] };
  await show();
  const folded = await screen.findAllByText('Reasoning');
  expect(folded.map((one) => one.closest('details')?.open)).toEqual([false]);
  expect(screen.getByText('The moon is full.')).toBeDefined();
});

const USAGE = {
  ...{ requests: 3, uncounted_requests: 1, input_tokens: 1234, cached_tokens: 1000 },
  ...{ output_tokens: 56, reasoning_tokens: 0 },
};

test('a conversation shows its tokens, and their cost where there are prices', async () => {
  const { server, show } = await setup();
  const cost = { amount: 0.01234, currency: 'USD', unpriced_requests: 1 };
  server.more = { usage: { ...USAGE, cost } };
  await show();
  expect((await screen.findByTestId('run-usage')).textContent).toBe(
    'Tokens: 1,234 in (1,000 from the cache) and 56 out · 1 answer was not counted by the provider' +
      ' · Cost: $0.0123 · without 1 answer that no price is set for',
  );
});

/** A conversation of two answers, the first of which was replaced. */
const REPLACED = {
  ...{ ...RUN, model: 'rehearsal' },
  messages: [
    MESSAGE,
    { ...MESSAGE, message_id: 'm_2', role: 'assistant', parts: [{ type: 'text', text: 'Low.' }] },
    { ...MESSAGE, message_id: 'm_3', replaces: 'm_1', parts: [{ type: 'text', text: 'And now?' }] },
    { ...MESSAGE, message_id: 'm_4', role: 'assistant', parts: [{ type: 'text', text: 'High.' }] },
  ],
};

const messagesSent = (sent: readonly { path: string; body?: unknown }[]) =>
  sent.filter(({ path }) => path.endsWith('/messages')).map(({ body }) => body);

test('what was replaced is folded where it stood', async () => {
  const { server, show } = await setup();
  server.more = REPLACED;
  await show();
  const fold = await screen.findByText('2 replaced messages');
  expect(screen.queryByText('How high is the tide?')).toBeNull();
  const details = fold.closest('details');
  if (details) details.open = true;
  fireEvent(details ?? fold, new Event('toggle'));
  expect(await screen.findByText('How high is the tide?')).toBeDefined();
});

test('what was replaced is folded on older pages too', async () => {
  const { server, show } = await setup();
  const [first, second, ...newest] = REPLACED.messages;
  server.more = { ...REPLACED, messages: newest, messages_left_out: 2 };
  server.page = { run_id: 'run_1', messages: [first, second] };
  await show();
  fireEvent.click(await screen.findByRole('button', { name: 'Show more' }));
  expect(await screen.findByText('2 replaced messages')).toBeDefined();
  expect(screen.queryByText('How high is the tide?')).toBeNull();
});

const FAILED = {
  ...{ ...RUN, model: 'gpt', status: 'failed' },
  error: { code: 'model_unavailable', message: 'No.' },
};

test('a message of a turn that failed is sent again in its own place, also to the rehearsal', async () => {
  const { server, sent, show, workbench } = await setup();
  server.more = FAILED;
  const rehearsal = {
    ...{ model: 'rehearsal', label: 'Rehearsal', provider: 'none', rehearsal: true },
    ...{ images: false, default: false },
  };
  workbench.models.setState({ models: [rehearsal], chosen: 'gpt' });
  await show();
  fireEvent.click(await screen.findByRole('button', { name: 'Send again' }));
  await waitFor(() => expect(messagesSent(sent)).toEqual([{ replaces: 'm_1', model: 'gpt' }]));
  fireEvent.click(screen.getByRole('button', { name: /rehearsal/i }));
  await waitFor(() =>
    expect(messagesSent(sent)[1]).toEqual({ replaces: 'm_1', model: 'rehearsal' }),
  );
});

test('an answer is asked for again with a button', async () => {
  const { server, sent, show } = await setup('zh');
  server.more = REPLACED;
  await show();
  fireEvent.click(await screen.findByRole('button', { name: '重新回答' }));
  await waitFor(() => expect(messagesSent(sent)).toEqual([{ replaces: 'm_3' }]));
});

test('a message is edited and sent anew with the keyboard; Escape leaves it and gives the focus back', async () => {
  const { server, sent, show } = await setup();
  server.more = REPLACED;
  await show();
  fireEvent.click(await screen.findByRole('button', { name: 'Edit this message' }));
  fireEvent.keyDown(screen.getByLabelText('Edited message'), { key: 'Escape' });
  const edit = await screen.findByRole('button', { name: 'Edit this message' });
  await waitFor(() => expect(document.activeElement).toBe(edit));
  fireEvent.click(edit);
  const field = screen.getByLabelText('Edited message');
  expect(document.activeElement).toBe(field);
  fireEvent.change(field, { target: { value: 'And tomorrow?' } });
  fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true });
  await waitFor(() =>
    expect(messagesSent(sent)).toEqual([{ replaces: 'm_3', input: 'And tomorrow?' }]),
  );
});

test('a message waits for the next step as long as tools run, and the first one of a turn does not', async () => {
  const calls = [{ type: 'tool_call', tool_call_id: 'tc_1' }];
  const step = { ...MESSAGE, message_id: 'm_2', role: 'assistant', parts: calls };
  const more = { ...MESSAGE, message_id: 'm_3' };
  const { server, show } = await setup();
  server.more = { ...RUN, status: 'running', step: 1, messages: [MESSAGE, step, more] };
  await show();
  expect(await screen.findByText('Your message is read at the next step')).toBeDefined();
  cleanup();
  const next = await setup();
  next.server.more = { ...RUN, status: 'running', step: 0, messages: [MESSAGE, step, more] };
  await next.show();
  await screen.findByTestId('run-status');
  expect(screen.queryByText('Your message is read at the next step')).toBeNull();
});

test('a running conversation shows that it, or a sub-agent of it, waits for a person', async () => {
  const { server, show, workbench } = await setup();
  server.more = { status: 'running' };
  await show();
  await screen.findByTestId('run-status');
  const wait = (run_id: string) =>
    act(() =>
      workbench.listings.setState({
        approvals: [{ tool_call_id: 'tc_2', run_id, tool_name: 'x', reason: '', expires_at: 1 }],
      }),
    );
  const isShown = () => screen.queryByText('Waits for a person') !== null;
  wait('run_other');
  expect(isShown()).toBe(false);
  wait('run_1');
  expect(isShown()).toBe(true);
  const parent = { run_id: 'run_1', call_id: 'tc_1', agent: 'helper', depth: 1 };
  const child = { ...RUN, run_id: 'run_child', parent };
  act(() =>
    workbench.runs.setState(({ runs }) => ({ runs: { ...runs, run_child: child as never } })),
  );
  wait('run_child');
  expect(isShown()).toBe(true);
});

test('what a conversation used is shown alone, and with its sub-agents', async () => {
  const { server, show } = await setup();
  const own = { requests: 1, uncounted_requests: 0, cached_tokens: 0, reasoning_tokens: 0 };
  const usage = { ...own, input_tokens: 100, output_tokens: 10, cost: null };
  const cost = { amount: 1.5, currency: 'EUR', unpriced_requests: 0 };
  server.more = { usage: { ...usage, with_children: { ...usage, input_tokens: 2_000, cost } } };
  await show();
  expect((await screen.findByTestId('run-usage')).textContent).toBe(
    'Tokens: 100 in and 10 out · With sub-agents: Tokens: 2,000 in and 10 out · Cost: €1.50',
  );
});

test('messages that no step has read are marked, and can be put back into the field', async () => {
  const { server, show, workbench } = await setup();
  const stopped = {
    ...{ ...MESSAGE, message_id: 'm_2', role: 'assistant' },
    parts: [{ type: 'notice', code: 'cancelled', text: 'Stopped.' }],
  };
  const more = ['In red', 'In blue'].map((text) => ({
    ...{ ...MESSAGE, message_id: text, parts: [{ type: 'text', text }] },
  }));
  server.more = { status: 'cancelled', messages: [MESSAGE, stopped, ...more] };
  await show();
  expect(await screen.findAllByText('Not read by the model')).toHaveLength(2);
  expect(screen.getAllByText('Stopped.')).toHaveLength(1);
  const [first] = screen.getAllByRole('button', { name: 'Put it back into the message field' });
  if (first) fireEvent.click(first);
  expect(workbench.ui.getState().messageText).toBe('In red');
});

test('a model that takes long to begin its answer is shown as loading', async () => {
  const { server, show } = await setup();
  const answer = {
    ...MESSAGE,
    message_id: 'm_2',
    role: 'assistant',
    status: 'streaming',
    parts: [],
  };
  server.more = { status: 'running', step: 1, messages: [MESSAGE, answer] };
  vi.useFakeTimers({ shouldAdvanceTime: true, toFake: ['setTimeout', 'clearTimeout'] });
  await show();
  await screen.findByTestId('run-status');
  expect(screen.queryByText(/may be loading/)).toBe(null);
  await act(() => vi.advanceTimersByTimeAsync(10_000));
  expect(screen.getByText(/may be loading/)).toBeTruthy();
  vi.useRealTimers();
});
