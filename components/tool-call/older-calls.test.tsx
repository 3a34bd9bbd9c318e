// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { callEvent } from '#lib/stores/testing/fixtures';
import { OlderCalls } from './live-calls.tsx';
import { createTestWorkbench, renderIn } from './testing/in-workbench.tsx';

const call = (at: number) => ({
  tool_call_id: `tc_${at}`,
  run_id: 'run_1',
  created_at: at,
  card: { status: 'SUCCESS', tool_name: 'tide.now', created_at: at },
});

test('[SO1] [SF22] one press goes on to the first page with a call that the list does not have', async () => {
  // Pages of one call each; the feed has the newest three of six.
  const { workbench, sent } = createTestWorkbench(({ path }) => {
    const at = Number(new URL(path, 'http://x').searchParams.get('cursor') ?? 6);
    return { body: { tool_calls: [call(at)], next_cursor: at === 1 ? null : `${at - 1}` } };
  });
  const feed = [4, 5, 6].map((at) =>
    callEvent(at, `tc_${at}`, { status: 'SUCCESS', tool_name: 'tide.now' }),
  );
  workbench.calls.getState().apply(feed);
  // Parts are on their way: what is not here is not of before yet.
  workbench.calls.setState({ isPart: true });
  workbench.listings.setState({ known: true });
  await act(async () => void renderIn(workbench, <OlderCalls runId="run_1" />));
  expect(sent).toHaveLength(0);
  await act(async () => workbench.calls.setState({ isPart: false }));
  expect(sent).toHaveLength(1);
  const more = await screen.findByRole('button', { name: 'Load older calls of this conversation' });
  await act(async () => fireEvent.click(more));
  expect(workbench.older.getState().order).toEqual(['tc_3', 'tc_4', 'tc_5', 'tc_6']);
  await act(async () => fireEvent.click(more));
  expect(workbench.older.getState().order).toHaveLength(5);
});
