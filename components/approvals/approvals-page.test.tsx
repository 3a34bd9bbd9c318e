// @vitest-environment happy-dom
import { act, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { CardUpdate } from '#lib/protocol/card';
import { ApprovalsLink } from '../shell/header.tsx';
import {
  createTestWorkbench,
  InWorkbench,
  personWith,
} from '../tool-call/testing/in-workbench.tsx';
import { ApprovalsPage } from './approvals-page.tsx';

const listed = (id: string, key: string) => ({
  ...{ tool_call_id: id, run_id: 'run_1', tool_name: `pay_${id}`, reason: 'it has effects' },
  ...{ expires_at: 2_000, key, requested_by: 'agent:bot' },
});

function setup({
  locale = 'en',
  role = 'operator',
  answer = () => ({ body: {} }),
}: {
  locale?: 'en' | 'zh';
  role?: 'operator' | 'viewer';
  answer?: Parameters<typeof createTestWorkbench>[0];
} = {}) {
  const { workbench, sent } = createTestWorkbench(answer);
  workbench.me.setState({ me: personWith(role) });
  workbench.connection.setState({ feed: { kind: 'connected' } });
  let seq = 0;
  const change = (id: string, update: CardUpdate) =>
    act(() =>
      workbench.calls
        .getState()
        .apply([{ type: 'call', seq: ++seq, tool_call_id: id, run_id: 'run_1', update }]),
    );
  const list = (...approvals: ReturnType<typeof listed>[]) => {
    for (const { tool_call_id: id, tool_name } of approvals) {
      const created_at = Date.now() / 1_000 - 180;
      change(id, { tool_name, status: 'WAIT', phase: 'approval', params: { n: 1 }, created_at });
    }
    act(() => workbench.listings.setState({ approvals, known: true }));
  };
  render(
    <InWorkbench workbench={workbench} locale={locale}>
      <ApprovalsLink />
      <ApprovalsPage />
    </InWorkbench>,
  );
  return { workbench, sent, change, list };
}

const waiting = () => screen.queryByRole('list', { name: 'Waiting' });
const badge = () => screen.queryByTestId('approvals');

test('[IB1] each question that waits is there once, with who asks, and the header has their number', async () => {
  const { list, sent } = setup();
  list(listed('tc_1', 'a'), listed('tc_2', 'a'), listed('tc_3', 'b'));
  expect(badge()?.textContent).toContain('2');
  expect(badge()?.getAttribute('href')).toBe('/approvals');
  const items = within(waiting() ?? document.body).getAllByRole('listitem');
  expect(items).toHaveLength(2);
  expect(items[0]?.textContent).toContain('agent:bot');
  expect(items[0]?.textContent).toContain('3 minutes ago');
  const way = within(items[0] ?? document.body).getByRole('link', { name: 'in run_1' });
  expect(way.getAttribute('href')).toBe('/?run=run_1#call=tc_1');
  await act(async () => {
    const [first] = screen.getAllByRole('button', { name: 'Deny' });
    if (first) fireEvent.click(first);
  });
  expect(sent.map(({ path }) => path)).toEqual(['/v1/tool_calls/tc_1/approval']);
});

test('[IB2] what was decided meanwhile stays with whose decision it was', () => {
  const { list, change, workbench } = setup();
  list(listed('tc_1', 'a'));
  change('tc_1', {
    ...{ status: 'DOING', phase: 'offered' },
    approval_decision: { by: 'operator:olga', decision: 'yes' },
  });
  act(() => workbench.listings.setState({ approvals: [] }));
  expect(waiting()).toBeNull();
  expect(badge()).toBeNull();
  const decided = screen.getByRole('list', { name: 'Decided' });
  expect(decided.textContent).toContain('Allowed by operator:olga');
});

test('[IB2] equal calls that leave one by one are one decision; an equal one of later is its own', () => {
  const { list } = setup();
  const decided = () =>
    within(screen.getByRole('list', { name: 'Decided' })).getAllByRole('listitem').length;
  list(listed('tc_1', 'a'), listed('tc_2', 'a'), listed('tc_3', 'a'));
  list(listed('tc_2', 'a'), listed('tc_3', 'a'));
  expect(decided()).toBe(1);
  list(listed('tc_3', 'a'));
  list();
  expect(decided()).toBe(1);
  list(listed('tc_4', 'a'));
  list();
  expect(decided()).toBe(2);
});

test('[IB3] nothing waits, not known yet, and offline are three things', () => {
  const { workbench } = setup();
  expect(screen.getByText('Fetching what waits…')).toBeTruthy();
  act(() => workbench.listings.setState({ known: true }));
  expect(screen.getByText('Nothing waits for a decision.')).toBeTruthy();
  act(() => workbench.connection.setState({ feed: { kind: 'offline' } }));
  expect(screen.getByText(/last known/)).toBeTruthy();
});

test('[IB4] a viewer reads it and decides nothing', () => {
  const { list } = setup({ role: 'viewer' });
  list(listed('tc_1', 'a'));
  expect(screen.queryByRole('button', { name: 'Deny' })).toBeNull();
  expect(screen.getByText('An operator or administrator decides on this call.')).toBeTruthy();
});

test('[IB5] of 200 questions the header has the number, and the page the first 50, the rest on demand', () => {
  const { list } = setup();
  list(...Array.from({ length: 200 }, (_, at) => listed(`tc_${at}`, `k${at}`)));
  expect(badge()?.textContent).toContain('200 approvals wait');
  const shown = () => within(waiting() ?? document.body).getAllByRole('listitem').length;
  expect(shown()).toBe(50);
  fireEvent.click(screen.getByRole('button', { name: 'Show more (150)' }));
  expect(shown()).toBe(100);
});

test('[IB6] a call that the snapshot had no room for is fetched, and why it could not be is shown', async () => {
  const { workbench } = setup();
  act(() => workbench.listings.setState({ approvals: [listed('tc_9', 'a')], known: true }));
  const answer = { code: 'internal', message: 'no', details: [], status: 500, retryAfter: null };
  const failure = { ok: false, ...answer } as const;
  act(() => workbench.older.setState({ single: { tc_9: { state: 'failed', failure } } }));
  expect(screen.getByTestId('missing-call').textContent).toContain('could not be loaded');
  expect(screen.getByRole('button', { name: /again/ })).toBeTruthy();
});

test('[IB1] in Chinese', () => {
  const { list } = setup({ locale: 'zh' });
  list(listed('tc_1', 'a'));
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('待批准');
  expect(badge()?.textContent).toContain('1 个待批准');
});

test('[IB7] that more waits than was sent is shown with its number, and it is fetched page by page', async () => {
  const pages = [
    { approvals: [listed('tc_1', 'a')], next_cursor: '1:tc_1' },
    { approvals: [listed('tc_2', 'b')], next_cursor: '2:tc_2' },
    { approvals: [listed('tc_3', 'c')], next_cursor: null },
  ];
  const answer = ({ path }: { path: string }) => {
    if (!path.startsWith('/v1/approvals')) return { status: 404, body: {} };
    const cursor = new URL(path, 'http://x').searchParams.get('cursor');
    return { body: pages[cursor === null ? 0 : Number(cursor[0])] };
  };
  const { list, workbench, sent } = setup({ answer });
  list(listed('tc_1', 'a'));
  expect(screen.queryByTestId('more-approvals')).toBeNull();
  act(() => workbench.listings.setState({ approvalsLeftOut: 2 }));
  expect(screen.getByText('2 more calls wait than could be sent at once.')).toBeTruthy();
  expect(badge()?.textContent).toContain('3');
  const fetchMore = () =>
    act(async () => fireEvent.click(screen.getByRole('button', { name: 'Fetch more' })));
  await fetchMore();
  const asked = () => sent.filter(({ path }) => path.startsWith('/v1/approvals')).length;
  expect(asked()).toBe(2);
  expect(workbench.listings.getState()).toMatchObject({ approvalsLeftOut: 1 });
  await fetchMore();
  expect(asked()).toBe(5);
  expect(within(waiting() ?? document.body).getAllByRole('listitem')).toHaveLength(3);
  expect(screen.queryByTestId('more-approvals')).toBeNull();
});

const summary = (run_id: string, title: string) => ({
  ...{ run_id, title, status: 'running' as const, model: 'm', tools: null, step: 1, max_steps: 9 },
  ...{ error: null, created_at: 1, updated_at: 1, owner: { name: 'olga', token_id: 'tok_olga' } },
});

test.each([
  ['en', 'the agent of olga', 'in Tides of May'],
  ['zh', 'olga 的智能体', '属于 Tides of May'],
] as const)('[IB10] a request names its owner and leads to its conversation, in %s', (...row) => {
  const [locale, who, where] = row;
  const { list, workbench } = setup({ locale });
  list({ ...listed('tc_1', 'a'), requested_by: 'run:run_1' });
  act(() => workbench.runs.setState({ runs: { run_1: summary('run_1', 'Tides of May') } }));
  expect(screen.getByTestId('asked-by').textContent).toContain(who);
  expect(screen.getByTestId('asked-by').textContent).not.toContain('run_1');
  const way = screen.getByRole('link', { name: where });
  expect(way.getAttribute('title')).toBe('run_1');
});

test('[IB10] of a sub-agent it names the sub-agents, and leads to the conversation above', () => {
  const { list, change, workbench } = setup();
  change('tc_up', { tool_name: 'delegate', source: 'server', params: { agent: 'helper' } });
  change('tc_in', { tool_name: 'delegate', params: { agent: 'scout' }, parent_call_id: 'tc_up' });
  list({ ...listed('tc_1', 'a'), requested_by: 'run:run_in' });
  change('tc_1', { parent_call_id: 'tc_in' });
  act(() => workbench.runs.setState({ runs: { run_1: summary('run_1', 'Tides of May') } }));
  expect(screen.getByTestId('asked-by').textContent).toContain(
    'the sub-agent helper > scout of olga',
  );
  const way = screen.getByRole('link', { name: 'in Tides of May' });
  expect(way.getAttribute('href')).toBe('/?run=run_1#call=tc_1');
});

const itemsOf = () => within(waiting() ?? document.body).getAllByRole('listitem');
const three = () => {
  const [first, second, third] = ['tc_1', 'tc_2', 'tc_3'].map((id) => listed(id, id));
  if (!first || !second || !third) throw new Error('three are listed');
  return [first, { ...second, tool_name: 'pay_tc_1' }, third] as const;
};

test('[IB8] what waits is filtered by its tool', () => {
  const { list } = setup();
  list(...three());
  const select = screen.getByRole('combobox', { name: 'Tool' });
  fireEvent.change(select, { target: { value: 'pay_tc_1' } });
  expect(itemsOf()).toHaveLength(2);
  expect(screen.getByText('2 of 3 are shown.')).toBeTruthy();
  expect(badge()?.textContent).toContain('3');
  fireEvent.change(select, { target: { value: '' } });
  expect(itemsOf()).toHaveLength(3);
});

test('[IB8] and by its conversation, a sub-agent’s with that of the run above', () => {
  const { list, change, workbench } = setup();
  list(...three());
  const of = (id: string, run_id: string, update: CardUpdate) =>
    act(() =>
      workbench.calls
        .getState()
        .apply([{ type: 'call', seq: 100, tool_call_id: id, run_id, update }]),
    );
  of('tc_up', 'run_2', { tool_name: 'delegate', params: { agent: 'helper' } });
  change('tc_2', { parent_call_id: 'tc_up' });
  act(() => workbench.runs.setState({ runs: { run_2: summary('run_2', 'Tides of May') } }));
  const select = screen.getByRole('combobox', { name: 'Conversation' });
  expect(within(select).getByRole('option', { name: 'Tides of May' })).toBeTruthy();
  fireEvent.change(select, { target: { value: 'run_2' } });
  expect(itemsOf()).toHaveLength(1);
  expect(itemsOf()[0]?.textContent).toContain('in Tides of May');
});

test('[IB9] what is shown is denied after one confirmation, with one reason and what failed', async () => {
  const refusal = { error: { code: 'already_final', message: 'It is over.' } };
  const { list, sent } = setup({
    answer: ({ path }) => (path.includes('tc_2') ? { status: 409, body: refusal } : { body: {} }),
  });
  list(...three());
  fireEvent.click(screen.getByRole('button', { name: 'Deny all shown (3)…' }));
  list(...three(), listed('tc_4', 'tc_4'));
  expect(sent).toEqual([]);
  fireEvent.change(screen.getByRole('textbox'), { target: { value: 'Not today' } });
  await act(async () => screen.getByRole('button', { name: 'Deny these 3' }).click());
  expect(sent.map(({ body }) => body)).toEqual(
    new Array(3).fill({ decision: 'no', note: 'Not today' }),
  );
  expect(sent.map(({ path }) => path).join()).not.toContain('tc_4');
  expect(screen.getByTestId('deny-progress').textContent).toBe('3 of 3 decided.');
  expect(screen.getByRole('button', { name: 'Deny all shown (4)…' })).toBeTruthy();
  expect(screen.getByText('1 was not denied:').parentElement?.textContent).toContain('It is over.');
});

test('[IB9] a viewer cannot', () => {
  const { list } = setup({ role: 'viewer' });
  list(...three());
  expect(screen.queryByRole('button', { name: /^Deny all/ })).toBeNull();
});

test('[IB11] while the focus is over a decision, a card that another person decides keeps its place', () => {
  const { list, change, workbench } = setup();
  list(listed('tc_1', 'a'), listed('tc_2', 'b'));
  const items = () => within(waiting() ?? document.body).getAllByRole('listitem');
  act(() => screen.getAllByRole('button', { name: 'Deny' })[1]?.focus());
  change('tc_1', {
    ...{ status: 'DOING', phase: 'offered' },
    approval_decision: { by: 'operator:otto', decision: 'yes' },
  });
  act(() => workbench.listings.setState({ approvals: [listed('tc_2', 'b')] }));
  expect(items()).toHaveLength(2);
  expect(items()[0]?.textContent).toContain('Allowed by operator:otto');
  expect(screen.queryByRole('list', { name: 'Decided' })).toBeNull();
});

test('[IB11] a call that is asked about anew while the list is held is there once, and nothing above it moves', () => {
  const { list, workbench } = setup();
  list(listed('tc_1', 'a'), listed('tc_2', 'b'));
  const items = () => within(waiting() ?? document.body).getAllByRole('listitem');
  act(() => screen.getAllByRole('button', { name: 'Deny' })[1]?.focus());
  act(() => workbench.listings.setState({ approvals: [listed('tc_2', 'another')] }));
  expect(items()).toHaveLength(2);
  expect(screen.getByRole('button', { name: 'Deny all shown (1)…' })).toBeTruthy();
});

test('[IB11] a card that was decided on the page goes, and the focus to the one in its place', async () => {
  const { list, change, workbench } = setup();
  list(listed('tc_1', 'a'), listed('tc_2', 'b'));
  const [first] = screen.getAllByRole('button', { name: 'Deny' });
  act(() => first?.focus());
  await act(async () => void (first && fireEvent.click(first)));
  change('tc_1', {
    ...{ status: 'ERROR', error: { code: 'denied', message: 'no', executed: 'no' } },
    approval_decision: { by: 'operator:olga', decision: 'no' },
  });
  await act(async () => workbench.listings.setState({ approvals: [listed('tc_2', 'b')] }));
  expect(within(waiting() ?? document.body).getAllByRole('listitem')).toHaveLength(1);
  expect(screen.getByRole('list', { name: 'Decided' })).toBeTruthy();
  await waitFor(() => expect(document.activeElement?.getAttribute('data-call-id')).toBe('tc_2'));
});
