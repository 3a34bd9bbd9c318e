// @vitest-environment happy-dom
import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { CardUpdate } from '#lib/protocol/card';
import { showCard } from './testing/show-card.tsx';

const setup = (update: CardUpdate) =>
  showCard({ status: 'SUCCESS', result: '# Tides\n\n- high at **noon**', ...update });

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
