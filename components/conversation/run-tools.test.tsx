// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { RunToolsPage } from '#lib/protocol/rest';
import type { RunTool } from '#lib/protocol/run-tools';
import { createTestWorkbench, renderIn } from '../tool-call/testing/in-workbench.tsx';
import { RunTools } from './run-tools.tsx';

const tool = (name: string, more: Partial<RunTool> = {}): RunTool => ({
  ...{ name, source: 'server', offer: 'offered', pinned: false, found: false },
  ...more,
});
const page = (more: Partial<RunToolsPage>): RunToolsPage => ({
  ...{ run_id: 'run_1', tools: [], next_after: null, counts: {} },
  ...more,
});

async function opened(answer: (path: string) => unknown, locale: 'en' | 'zh' = 'en') {
  const { workbench, sent } = createTestWorkbench(({ path }) => ({ body: answer(path) }));
  renderIn(workbench, <RunTools runId="run_1" />, locale);
  expect(sent).toEqual([]);
  const details = screen.getByTestId<HTMLDetailsElement>('run-tools');
  await act(async () => {
    details.open = true;
    fireEvent(details, new Event('toggle'));
  });
  const counts = await screen.findByTestId('run-tool-counts');
  return { details, counts, sent };
}

const rows = () => screen.getAllByRole('listitem').map(({ textContent }) => textContent);

test('each tool is shown with whether it is offered, or why not, once it is opened', async () => {
  const tools = [
    tool('a.pin', { pinned: true }),
    tool('b.found', { found: true }),
    tool('c.much', { offer: 'over_limit' }),
    tool('d.no', { offer: 'denied', rule: 'deny.0', reason: 'The policy denies it' }),
    tool('e.gone\u202e', { offer: 'client_away', source: 'client' }),
    tool('f.loose', { schema_warnings: ['"not" is not taken here.'] }),
  ];
  const counts = { offered: 2, over_limit: 1, denied: 1, client_away: 1 };
  const made = await opened(() => page({ tools, counts }));
  expect(made.counts.textContent).toBe(
    'offered: 2 · over the model’s limit: 1 · denied by the policy: 1 · its client is away: 1',
  );
  expect(rows().slice(0, 4)).toEqual([
    'a.pinoffered · pinned',
    'b.foundoffered · found by search',
    'c.muchover the model’s limit',
    'd.nodenied by the policy · rule deny.0 (The policy denies it)',
  ]);
  expect(rows()[4]).not.toContain('\u202e');
  expect(rows()[5]).toContain('a form of its schema that holds less: "not" is not taken here.');
  // What scrolls takes the focus, so that keys reach it.
  expect(screen.getByRole('group', { name: 'Tools of this conversation' }).tabIndex).toBe(0);
});

test('further tools are fetched when they are asked for', async () => {
  const made = await opened((path) =>
    path.includes('after=')
      ? page({ tools: [tool('b')] })
      : page({ tools: [tool('a')], next_after: 'a' }),
  );
  expect(rows()).toHaveLength(1);
  fireEvent.click(screen.getByRole('button', { name: 'More tools' }));
  await screen.findByText('b');
  expect(made.sent.map(({ path }) => path)).toEqual([
    '/v1/runs/run_1/tools?limit=100',
    '/v1/runs/run_1/tools?limit=100&after=a',
  ]);
  expect(screen.queryByRole('button', { name: 'More tools' })).toBeNull();
});
