// @vitest-environment happy-dom
import { act, fireEvent, render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { AutonomyLevel } from '#lib/policy/autonomy';
import { RunAutonomy } from '../conversation/run-autonomy.tsx';
import { createTestWorkbench, InWorkbench } from '../tool-call/testing/in-workbench.tsx';
import { AutonomyBadge } from './header.tsx';

function setup(level: AutonomyLevel | null, locale: 'en' | 'zh' = 'en') {
  const { workbench, sent } = createTestWorkbench(({ body }) => ({
    body: { level: 'supervised', runs: [{ run_id: 'run_1', set_at: 1, ...Object(body) }] },
  }));
  workbench.autonomy.setState({ autonomy: level && { level, runs: [] } });
  render(
    <InWorkbench workbench={workbench} locale={locale}>
      <AutonomyBadge />
      <RunAutonomy runId="run_1" />
    </InWorkbench>,
  );
  return { sent };
}

test.each([
  ['full', 'en', 'Full autonomy'],
  ['full', 'zh', '完全自主'],
  ['read_only', 'en', 'Read only'],
  ['read_only', 'zh', '只读'],
] as const)('[AN2] %s is shown in %s, with the way to the policy', (level, locale, words) => {
  setup(level, locale);
  const badge = screen.getByTestId('autonomy-badge');
  expect(badge.textContent).toContain(words);
  expect(badge.getAttribute('href')).toBe('/settings/policy');
});

test.each([null, 'supervised'] as const)('[AN2] nothing is shown of %s', (level) => {
  setup(level);
  expect(screen.queryByTestId('autonomy-badge')).toBeNull();
});

test('[AN4] a conversation gets a level of its own by a button; full is asked about first', async () => {
  const { sent } = setup('supervised');
  const select = screen.getByRole('combobox', { name: 'Autonomy of this conversation' });
  const choose = (value: string) =>
    act(async () => void fireEvent.change(select, { target: { value } }));
  const press = (name: string) =>
    act(async () => {
      const button = screen.getByRole('button', { name });
      button.focus();
      button.click();
    });
  await choose('read_only');
  await choose('supervised');
  await choose('full');
  await press('Switch');
  expect(document.activeElement?.textContent).toBe('Back');
  await press('Back');
  expect(document.activeElement).toBe(select);
  expect(screen.queryByRole('button', { name: 'Switch' })).toBeNull();
  expect(sent).toEqual([]);
  await choose('full');
  await press('Switch');
  await press('Switch to full');
  expect(document.activeElement).toBe(select);
  await choose('read_only');
  await press('Switch');
  await choose('as_all');
  await press('Switch');
  expect(sent.map(({ body }) => body)).toEqual([
    { level: 'full', run_id: 'run_1' },
    { level: 'read_only', run_id: 'run_1' },
    { level: null, run_id: 'run_1' },
  ]);
});
