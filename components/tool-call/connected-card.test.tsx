// @vitest-environment happy-dom
import { act, cleanup, fireEvent, screen, within } from '@testing-library/react';
import { afterEach, describe, expect, test } from 'vitest';
import { Toaster } from '#components/ui/toaster';
import type { CardUpdate } from '#lib/protocol/card';
import type { ModelOutputRecord } from '#lib/protocol/model-turn';
import type { ToolListing } from '#lib/protocol/tool-spec';
import type { WatchEvent } from '#lib/protocol/watch-messages';
import { client, tool } from '#lib/stores/testing/fixtures';
import type { Answer } from './testing/in-workbench.tsx';
import { layOut } from './testing/layout.ts';
import { showCard } from './testing/show-card.tsx';

afterEach(() => {
  window.location.hash = '';
});

const clientsEvent = (seq: number, responsive: boolean): WatchEvent => ({
  ...{ type: 'clients', seq },
  clients: [client('c', { name: 'Phone', kind: 'phone', responsive })],
});

const toolsEvent = (clients: ToolListing['clients']): WatchEvent => ({
  ...{ type: 'tools', seq: 2 },
  tools: [tool('file.read', { source: 'client', clients })],
});

const setup = (update: CardUpdate, answer: (path: string) => Answer | Promise<Answer>) =>
  showCard(
    { tool_name: 'file.read', source: 'server', params: {}, ...update },
    {
      answer: ({ path }) => answer(path),
      beside: <Toaster label="Messages" closeLabel="Close" />,
    },
  );

const running: CardUpdate = { status: 'DOING', phase: 'granted' };
const failed: CardUpdate = {
  status: 'ERROR',
  error: { code: 'no_provider', message: 'nobody', executed: 'no' },
};
const refusal = { status: 409, body: { error: { code: 'already_final', message: 'It is over.' } } };

test('cancel is shown at once, asked of the server, and followed by the card', async () => {
  const held = Promise.withResolvers<Answer>();
  const { sent, change } = setup(running, () => held.promise);
  fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  expect(screen.getByRole('button', { name: 'Asked to stop' })).toBeDefined();
  expect(sent.map(({ path }) => path)).toEqual(['/v1/tool_calls/tc_1/cancel']);
  await act(async () => held.resolve({ body: {} }));
  change({ status: 'DOING', phase: 'cancelling' });
  expect(screen.getByTestId('tool-card').dataset).toMatchObject({ phase: 'cancelling', seq: '2' });
});

const deleted: Answer = {
  status: 404,
  body: { error: { code: 'call_deleted', message: 'There is no tool call "tc_1" any more' } },
};

test('[CD27] a card whose call the server deleted shows that, and offers nothing any more', async () => {
  setup(failed, () => deleted);
  const retry = screen.getByRole('button', { name: 'Retry' });
  await act(async () => fireEvent.click(retry));
  const card = screen.getByTestId('tool-card');
  expect(card.textContent).toContain('This call was deleted');
  expect(within(card).queryAllByRole('button')).toEqual([]);
  expect(card.textContent).toContain('file.read');
});

test('[CD27] [SF19] so does the card of a call of before, whichever request says it', async () => {
  const { workbench, change } = setup(failed, () => deleted);
  act(() => {
    workbench.older.setState(({ byId }) => ({
      byId: { ...byId, tc_1: { callId: 'tc_1', runId: 'run_1', seq: 0, card: { params: {} } } },
    }));
    workbench.calls.setState({ byId: {}, order: [] });
  });
  await act(() => workbench.api.getModelOutput('tc_1'));
  expect(screen.getByTestId('tool-card').textContent).toContain('This call was deleted');
  change({ tool_name: 'file.read', status: 'DOING' });
  expect(screen.getByTestId('tool-card').textContent).not.toContain('This call was deleted');
});

test('a cancel that the server refuses is taken back and shown', async () => {
  setup(running, () => refusal);
  await act(async () => fireEvent.click(screen.getByRole('button', { name: 'Cancel' })));
  expect(screen.getByRole('button', { name: 'Cancel' })).toBeDefined();
  expect(await screen.findByText('It is over.')).toBeDefined();
});

test('a refused edit is called by the name of its button, with what is wrong', async () => {
  const message = 'The arguments do not fit file.read: edge must be integer';
  const waiting: CardUpdate = { status: 'WAIT', phase: 'approval', params: { edge: 1 } };
  layOut({ height: 240, content: 40 });
  setup(waiting, () => ({ status: 422, body: { error: { code: 'invalid_args', message } } }));
  fireEvent.click(screen.getByRole('button', { name: 'Edit arguments…' }));
  await act(async () => fireEvent.click(screen.getByRole('button', { name: 'Allow with these' })));
  expect(await screen.findByText('Allow with these failed')).toBeDefined();
  expect(screen.getByText(message)).toBeDefined();
});

test('retry makes a new call and points to it', async () => {
  const { sent } = setup(failed, () => ({ body: { tool_call_id: 'tc_2' } }));
  await act(async () => fireEvent.click(screen.getByRole('button', { name: 'Retry' })));
  expect(sent).toEqual([{ path: '/v1/tool_calls/tc_1/retry', body: {} }]);
  expect(window.location.hash).toBe('#call=tc_2');
});

test('[SR1] a retry that waits for this tab says so, and is sent when the wait ends', async () => {
  const { sent, workbench } = setup(failed, () => ({ body: { tool_call_id: 'tc_2' } }));
  workbench.tab.setState({ status: 'connecting' });
  await act(async () => fireEvent.click(screen.getByRole('button', { name: 'Retry' })));
  expect(await screen.findByText('Connecting this tab…')).toBeDefined();
  expect(sent).toEqual([]);
  await act(async () => workbench.tab.setState({ status: 'registered', clientId: 'tab_1' }));
  expect(sent).toEqual([{ path: '/v1/tool_calls/tc_1/retry', body: { client_id: 'tab_1' } }]);
});

test('[CD5] pressed again before the answer, or by a double click, retry makes one call', async () => {
  const held = Promise.withResolvers<Answer>();
  const { sent } = setup(failed, () => held.promise);
  const retry = screen.getByRole('button', { name: 'Retry' });
  fireEvent.click(retry);
  fireEvent.click(retry);
  await act(async () => held.resolve({ body: { tool_call_id: 'tc_2' } }));
  fireEvent.click(retry, { detail: 2 });
  expect(sent.map(({ path }) => path)).toEqual(['/v1/tool_calls/tc_1/retry']);
  await act(async () => fireEvent.click(retry, { detail: 1 }));
  expect(sent).toHaveLength(2);
});

test('a card renders again only for its own call', () => {
  const { change } = setup(running, () => ({ body: {} }));
  const before = screen.getByTestId('tool-card').outerHTML;
  change({ status: 'WAIT', params: {} }, 'tc_other');
  expect(screen.getByTestId('tool-card').outerHTML).toBe(before);
});

describe('what the model got', () => {
  const output: ModelOutputRecord = {
    ...{ tool_call_id: 'tc_1', status: 'SUCCEEDED', text: 'for the model\u200b only', cut: true },
    ...{ sha256: 'abc', bytes: 32_768, images: [], rendering: 2, sent: [] },
  };
  const sent = { number: 2, turn: 1, step: 2, attempt: 1, model: 'openai:gpt-5', started_at: 1 };

  async function open(more: Partial<ModelOutputRecord>) {
    const { sent } = setup({ status: 'SUCCESS', result: 'for people' }, () => ({
      body: { ...output, ...more },
    }));
    const menu = screen.getByRole('button', { name: 'More for file.read' });
    fireEvent.keyDown(menu, { key: 'Enter' });
    const item = await screen.findByRole('menuitem', { name: 'What the model got' });
    expect(sent).toEqual([]);
    await act(async () => void fireEvent.click(item));
    await screen.findByTestId('model-output');
    expect(sent.map(({ path }) => path)).toEqual(['/v1/tool_calls/tc_1/model_output']);
    return screen.getByRole('dialog').textContent;
  }

  test('[CD25] is fetched when it is opened, word by word, with its size and that it was cut', async () => {
    const words = await open({ text: 'for the model only' });
    expect(screen.getByTestId('model-output').textContent).toBe('for the model only');
    expect(words).toContain('18 characters · 32.8 kB · cut: the result is longer');
    expect(words).toContain('No request to a model with this text is recorded.');
  });

  test.each([
    ['abc', 2, 'It was exactly this text.'],
    ['other', 2, 'It was another text of 7 B: the call has changed since.'],
    ['other', 1, 'It was a text of 7 B, in the form of another version of Callboard.'],
  ])('[CD25] a request with hash %s in the form %i says: %s', async (sha256, rendering, text) => {
    const part = { sha256, rendering, bytes: 7, cut: false, images: [] };
    const words = await open({ sent: [{ ...sent, ...part }] });
    expect(words).toContain('Sent to openai:gpt-5');
    expect(words).toContain('turn 1, step 2');
    expect(words).toContain(text);
  });
});

test('[CD15] a card shows that its client does not answer, and no longer once it does', () => {
  const { workbench } = setup(
    { ...running, source: 'client', client_id: 'c', client_name: 'Phone' },
    () => ({
      body: {},
    }),
  );
  const publish = (responsive: boolean, seq: number) =>
    act(() => workbench.listings.getState().apply([clientsEvent(seq, responsive)]));
  expect(screen.queryByText(/Phone does not answer/)).toBeNull();
  publish(false, 2);
  expect(screen.getByText(/Phone does not answer/)).toBeDefined();
  publish(true, 3);
  expect(screen.queryByText(/Phone does not answer/)).toBeNull();
});

describe('a late answer', () => {
  const late: CardUpdate = {
    status: 'ERROR',
    late_result: true,
    error: { code: 'timeout', message: 'late', executed: 'unknown', clock: 'execute' },
  };
  const disclosure = () => screen.getByRole('button', { name: 'Late answer' });

  test('[CD17] is fetched when it is opened, and shown as a result is', async () => {
    const held = Promise.withResolvers<Answer>();
    const { sent } = setup(late, () => held.promise);
    expect(sent).toEqual([]);
    fireEvent.click(disclosure());
    expect(sent.map(({ path }) => path)).toEqual(['/v1/tool_calls/tc_1']);
    expect(screen.getByRole('status').textContent).toBe('Fetching the record…');
    await act(async () => held.resolve({ body: { late_result: 'the gate is open' } }));
    expect(screen.getByTestId('result').textContent).toContain('the gate is open');
    fireEvent.click(disclosure());
    expect(screen.queryByTestId('result')).toBeNull();
  });

  test('[CD17] that cannot be fetched shows why, and is asked for again when opened again', async () => {
    const { sent } = setup(late, () => refusal);
    await act(async () => fireEvent.click(disclosure()));
    expect(screen.getByRole('alert').textContent).toBe('It is over.');
    fireEvent.click(disclosure());
    await act(async () => fireEvent.click(disclosure()));
    expect(sent).toHaveLength(2);
  });
});

describe('a queued call', () => {
  const queued: CardUpdate = { status: 'WAIT', phase: 'queued', source: 'client' };
  type Provider = ToolListing['clients'][number];
  const gate: Provider = { client_id: 'gate', name: 'Gate', visible: true, responsive: false };
  const withOpenCircuit = (until: number): Provider => ({
    client_id: 'lamp',
    name: 'Lamp',
    visible: true,
    responsive: true,
    tripped: { until, failures: 3 },
  });
  const textOf = (update: CardUpdate, clients: Provider[]) => {
    const { workbench } = setup(update, () => ({ body: {} }));
    act(() => workbench.listings.getState().apply([toolsEvent(clients)]));
    return screen.getByTestId('tool-card').textContent;
  };

  test('[CD18] shows which client does not answer, once', () => {
    const { workbench } = setup({ ...queued, client_id: 'c', client_name: 'Gate' }, () => ({
      body: {},
    }));
    const events = [toolsEvent([{ ...gate, client_id: 'c' }]), clientsEvent(3, false)];
    act(() => workbench.listings.getState().apply(events));
    const text = screen.getByTestId('tool-card').textContent;
    expect(text).toContain('Gate does not answer; waiting for it.');
    expect(text).not.toContain('Waiting for');
    expect(text).not.toContain('frozen');
  });

  test('[CD18] shows which client failed to deliver and when it is asked again', () => {
    const until = Math.floor(Date.now() / 1_000) + 3_600;
    const text = textOf(queued, [withOpenCircuit(until), gate]);
    expect(text).toMatch(/Lamp failed to deliver 3 times; asked again in \d+:\d\d/);
    expect(text).toContain('Gate does not answer');
    cleanup();
    expect(textOf(queued, [withOpenCircuit(1)])).toContain('asked again now');
  });

  test('[CD18] waits for its turn while one of them could be asked', () => {
    const well = { ...gate, client_id: 'well', responsive: true };
    expect(textOf(queued, [gate, well])).toContain('Waiting for any client that offers it.');
    cleanup();
    expect(textOf(queued, [])).toContain('Waiting for any client that offers it.');
    cleanup();
    // Whom it is meant for counts alone.
    expect(textOf({ ...queued, client_id: 'gate' }, [gate, well])).toContain(
      'Gate does not answer',
    );
    cleanup();
    expect(textOf({ ...running, source: 'client' }, [gate])).not.toContain('does not answer');
  });
});
