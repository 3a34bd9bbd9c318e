// @vitest-environment happy-dom
import { cleanup, fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { FreshCalls } from './live-calls.tsx';
import { createTestWorkbench, renderIn } from './testing/in-workbench.tsx';

/** What the list shows over itself, and what a press on it leads to. */
function show(fresh: number, asking: readonly string[], locale: 'en' | 'zh' = 'en') {
  const { workbench } = createTestWorkbench();
  const shown: (string | undefined)[] = [];
  renderIn(
    workbench,
    <FreshCalls fresh={fresh} asking={asking} onShow={(callId) => shown.push(callId)} />,
    locale,
  );
  const button = screen.queryByRole('button');
  if (button) fireEvent.click(button);
  cleanup();
  return { words: button?.textContent, shown };
}

test('[CD26] the words say how many calls are new and how many need approval', () => {
  expect(show(0, []).words).toBeUndefined();
  expect(show(3, [])).toEqual({ words: '3 new calls', shown: [undefined] });
  expect(show(3, ['a', 'b']).words).toBe('3 new calls, 2 need approval');
  expect(show(1, ['a']).words).toBe('1 call needs approval');
  expect(show(0, ['a', 'b']).words).toBe('2 calls need approval');
  expect(show(3, ['a'], 'zh').words).toBe('3 个新调用，1 个需要批准');
});

test('[CD26] a press leads to the call that was asked about first', () => {
  expect(show(3, ['a', 'b']).shown).toEqual(['a']);
});
