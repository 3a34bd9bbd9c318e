// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { ModelTurn } from '#lib/protocol/model-turn';
import { sampleModelTurn } from '#lib/protocol/testing/sample-model-turn';
import { message } from '#lib/stores/testing/fixtures';
import { createTestWorkbench, renderIn } from '../tool-call/testing/in-workbench.tsx';
import { MessageView } from './message-view.tsx';

async function opened(turns: ModelTurn[]) {
  const { workbench, sent } = createTestWorkbench(() => ({ body: { model_turns: turns } }));
  renderIn(workbench, <MessageView message={message('msg_1', { status: 'done' })} />);
  expect(sent).toEqual([]);
  const details = screen.getByTestId<HTMLDetailsElement>('step-details');
  await act(async () => {
    details.open = true;
    fireEvent(details, new Event('toggle'));
  });
  await screen.findAllByText(/^Model$|No request/);
  expect(sent.map(({ path }) => path)).toEqual(['/v1/runs/run_1/model_turns?message_id=msg_1']);
  const facts = [...details.querySelectorAll('dt')].map((name) => [
    name.textContent,
    name.nextElementSibling?.textContent,
  ]);
  return { details, facts };
}

test('what a step took is fetched when it is opened', async () => {
  const usage = sampleModelTurn().usage;
  const { facts } = await opened([
    { ...sampleModelTurn({ usage: { ...usage, reasoning_tokens: 30 } }), state: 'done' },
  ]);
  expect(facts).toEqual([
    ['Model', 'openai:gpt-5'],
    ['Duration', '1.5 s (first piece after 300 ms)'],
    ['Tokens', '1,234 in (1,024 from the cache) and 56 out (30 to think)'],
    ['Tools offered', '3'],
    ['End', 'The model was done.'],
  ]);
});

test('a step that was asked for again shows each attempt and how it ended', async () => {
  const none = { input_tokens: null, output_tokens: null } as const;
  const failed = { ended_at: 1_700_000_000.2, first_token_at: null, finish_reason: null };
  const { details, facts } = await opened([
    {
      ...sampleModelTurn({ ...failed, error_code: 'model_unavailable' }),
      usage: { ...none, reasoning_tokens: null, cached_tokens: null },
      state: 'failed',
    },
    {
      ...sampleModelTurn({ number: 2, attempt: 2, ended_at: null, finish_reason: null }),
      state: 'interrupted',
    },
  ]);
  expect(details.textContent).toContain('Attempt 2');
  expect(facts.filter(([name]) => name === 'Tokens')[0]).toEqual([
    'Tokens',
    'not counted by the provider',
  ]);
  expect(facts.filter(([name]) => name === 'End')).toEqual([
    ['End', 'Failed: model_unavailable'],
    ['End', 'The server ended before the answer did.'],
  ]);
  expect(facts.filter(([name]) => name === 'Duration')).toHaveLength(1);
});
