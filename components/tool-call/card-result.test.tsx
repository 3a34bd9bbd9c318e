// @vitest-environment happy-dom
import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { CardUpdate } from '#lib/protocol/card';
import { ConnectedCard } from './connected-card.tsx';
import { createTestWorkbench, renderIn } from './testing/in-workbench.tsx';
import { useCardActions } from './use-card-actions.tsx';

function Card() {
  const { actions } = useCardActions();
  return <ConnectedCard callId="tc_1" isStale={false} actions={actions} />;
}

function setup(update: CardUpdate) {
  const { workbench } = createTestWorkbench();
  const card = { status: 'SUCCESS', result: '# Tides\n\n- high at **noon**', ...update } as const;
  workbench.calls
    .getState()
    .apply([{ type: 'call', seq: 1, tool_call_id: 'tc_1', run_id: 'run_1', update: card }]);
  renderIn(workbench, <Card />);
}

test('[RV9] the result of attempt_completion is formatted as a message of the model is', async () => {
  setup({ tool_name: 'attempt_completion', source: 'server' });
  expect((await screen.findByRole('heading', { name: 'Tides' })).tagName).toBe('H1');
  expect(screen.getByRole('listitem').textContent).toBe('high at noon');
  expect(screen.getByRole('button', { name: 'Raw JSON' })).toBeTruthy();
});

test.each([
  { tool_name: 'attempt_completion', source: 'client' },
  { tool_name: 'tide.read', source: 'server' },
])('[RV9] that of another tool is plain text: %j', async (update) => {
  setup(update);
  expect(screen.getByTestId('result').textContent).toContain('# Tides');
  await import('../conversation/markdown.tsx');
  expect(screen.queryByRole('heading', { name: 'Tides' })).toBeNull();
});
