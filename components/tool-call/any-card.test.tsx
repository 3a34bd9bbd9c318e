// @vitest-environment happy-dom
import { cleanup, screen, within } from '@testing-library/react';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { CardUpdate } from '#lib/protocol/card';
import { hostileJson, hostileRecord, KNOWN_HOSTILE } from '../testing/hostile-json.ts';
import { layOut } from './testing/layout.ts';
import { ShownCard, showCard } from './testing/show-card.tsx';

/** Two cards: one of the given update, and a neighbour. Gives a way to change the first. */
function show(update: CardUpdate): (more: CardUpdate) => void {
  const beside = <ShownCard id="tc_2" />;
  const { change } = showCard({ tool_name: 'odd', source: 'client', ...update }, { beside });
  change({ tool_name: 'good', source: 'client', status: 'SUCCESS', result: 'fine' }, 'tc_2');
  return change;
}

const states: readonly CardUpdate[] = [
  { status: 'WAIT', phase: 'streaming', partial: true },
  { status: 'WAIT', phase: 'approval' },
  { status: 'WAIT', phase: 'queued' },
  { status: 'DOING', phase: 'granted' },
  { status: 'SUCCESS' },
];

test('[RV1] a card is drawn whatever its arguments, its result and what it shows so far are', () => {
  layOut({ height: 100 });
  fc.assert(
    fc.property(
      fc.constantFrom(...states),
      hostileRecord,
      hostileJson,
      hostileJson,
      (state, params, result, preview) => {
        show({ ...state, params, result, preview });
        expect(screen.getByRole('heading', { name: 'odd' })).toBeDefined();
        expect(document.body.textContent).not.toMatch(/cannot be shown|\[object Object\]/);
        cleanup();
      },
    ),
    {
      numRuns: 60,
      examples: KNOWN_HOSTILE.map((value) => [{ status: 'SUCCESS' }, {}, value, value]),
    },
  );
});

/** As from a server that does not keep to the protocol. */
const broken = (text: string): CardUpdate => JSON.parse(text);

test('[RV4] a card that cannot be drawn fails alone, and is drawn again when it changes', () => {
  vi.spyOn(console, 'error').mockReturnValue();
  const change = show({});
  change(broken('{"tool_name":{"toString":1},"status":"WAIT"}'));
  expect(screen.getByRole('article', { name: 'tc_1' }).textContent).toContain('cannot be shown');
  expect(screen.getByRole('article', { name: 'good' }).textContent).toContain('fine');
  change({ tool_name: 'mended' });
  expect(screen.getByRole('article', { name: 'mended' })).toBeDefined();
  expect(screen.queryByTestId('cannot-show')).toBeNull();
});

test('[RV4] where only its inside cannot be drawn, its head and its menu stay', () => {
  vi.spyOn(console, 'error').mockReturnValue();
  show(broken('{"status":"ERROR","error":{"code":"tool_error","executed":"yes","message":{}}}'));
  const article = screen.getByRole('article', { name: 'odd' });
  expect(article.textContent).toContain('This cannot be shown.');
  expect(screen.getByRole('button', { name: 'More for odd' })).toBeDefined();
  expect(within(article).getByRole('button', { name: 'Download' })).toBeDefined();
});
