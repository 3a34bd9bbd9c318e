// @vitest-environment happy-dom
import { act, render, screen, within } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import type { ToolStats } from '#lib/protocol/tool-stats';
import {
  type Answer,
  createTestWorkbench,
  InWorkbench,
  press,
  renderIn,
} from '../tool-call/testing/in-workbench.tsx';
import { Statistics } from './statistics.tsx';

const times = (p50: number | null) => ({ p50_ms: p50, p95_ms: p50, p99_ms: p50 });
const none = { failures: {}, last_errors: [], clients: [] };

const STATS: ToolStats = {
  ...{ calls: 2_012, from: 1_790_000_000, to: 1_790_003_600 },
  tools: [
    {
      tool_name: 'a.often',
      count: 2_000,
      succeeded: 1_999,
      decided: 0,
      expired: 0,
      ...times(12),
      ...none,
    },
    {
      ...{
        tool_name: 'b.fails',
        count: 10,
        succeeded: 4,
        decided: 0,
        expired: 0,
        ...times(90_000),
      },
      failures: { timeout: 1, tool_error: 5 },
      last_errors: [
        {
          tool_call_id: 'tc_9',
          at: Date.now() / 1_000 - 120,
          code: 'tool_error',
          message: 'no\u202eway',
        },
      ],
      clients: [
        {
          client_id: 'phone',
          count: 10,
          succeeded: 4,
          decided: 0,
          expired: 0,
          failures: {},
          ...times(90_000),
        },
      ],
    },
    {
      tool_name: 'c.never',
      count: 2,
      succeeded: 0,
      decided: 2,
      expired: 1,
      ...times(null),
      ...none,
    },
  ],
};

async function setup({
  tool = null,
  locale = 'en',
  answers = [{ body: STATS }],
}: {
  tool?: string | null;
  locale?: 'en' | 'zh';
  answers?: Answer[];
} = {}) {
  const left = [...answers];
  const { workbench, sent } = createTestWorkbench(() => left.shift() ?? { body: STATS });
  const onSelect = vi.fn();
  await act(
    async () => void renderIn(workbench, <Statistics tool={tool} onSelect={onSelect} />, locale),
  );
  return { sent, onSelect };
}

const rows = () => screen.getAllByRole('row').map((row) => row.textContent);
const names = () => screen.getAllByRole('rowheader').map((cell) => cell.textContent);

test('a row for each tool has its calls, successes, failures and times; its name leads to it', async () => {
  const { sent, onSelect } = await setup();
  expect(sent).toMatchObject([{ path: '/v1/tools/stats' }]);
  expect(rows()[1]).toBe('a.often2,00099.9%10012 ms12 ms12 ms');
  expect(rows()[2]).toBe('b.fails1040%6001m 30s1m 30s1m 30s');
  expect(rows()[3]).toBe('c.never2–011–––');
  expect(screen.getByText(/^Of the newest 2,012 calls/)).toBeTruthy();
  await press('b.fails');
  expect(onSelect).toHaveBeenCalledWith('b.fails');
});

test('the head of a column sorts by it, the other way round when pressed again, without a value last', async () => {
  await setup();
  const sorted = (name: RegExp) =>
    screen.getByRole('columnheader', { name }).getAttribute('aria-sort');
  expect(sorted(/Calls/)).toBe('descending');
  await press('p95');
  expect(names()).toEqual(['b.fails', 'a.often', 'c.never']);
  expect([sorted(/Calls/), sorted(/p95/)]).toEqual([null, 'descending']);
  await press('p95');
  expect(names()).toEqual(['a.often', 'b.fails', 'c.never']);
  expect(sorted(/p95/)).toBe('ascending');
  await press('Tool');
  expect(names()).toEqual(['a.often', 'b.fails', 'c.never']);
  await press('Success');
  expect(names()[0]).toBe('a.often');
});

test('of one tool it shows failures by code, the last errors with their calls, and each client', async () => {
  await setup({ tool: 'b.fails' });
  const [codes] = screen.getAllByRole('list');
  const shown = within(codes ?? document.body).getAllByRole('listitem');
  expect(shown.map((item) => item.textContent)).toEqual(['tool_error 5', 'timeout 1']);
  expect(screen.getByRole('link', { name: 'Call tc_9' }).getAttribute('href')).toBe('/#call=tc_9');
  expect(screen.getByText('2 minutes ago')).toBeTruthy();
  expect(document.body.textContent).not.toContain('\u202e');
  expect(screen.getByText('phone')).toBeTruthy();
});

test('another tool is shown without reading them again', async () => {
  const { workbench, sent } = createTestWorkbench(() => ({ body: STATS }));
  const page = (tool: string | null) => (
    <InWorkbench workbench={workbench}>
      <Statistics tool={tool} onSelect={() => {}} />
    </InWorkbench>
  );
  const { rerender } = await act(async () => render(page(null)));
  await act(async () => rerender(page('b.fails')));
  expect(screen.getByText('Failures by code')).toBeTruthy();
  expect(sent).toHaveLength(1);
});
