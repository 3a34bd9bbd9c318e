// @vitest-environment happy-dom
import { act, renderHook } from '@testing-library/react';
import { expect, test } from 'vitest';
import { useDisclosure } from './disclosure.tsx';

/** What a part that is drawn now finds. */
const isOpen = (key: string) => renderHook(() => useDisclosure(key, false)).result.current.isOpen;

function open(key: string): void {
  const { result, unmount } = renderHook(() => useDisclosure(key, false));
  act(() => result.current.set(true));
  unmount();
}

test('[CD20] what a person opened is remembered, of so many parts as are newest', () => {
  open('first');
  open('second');
  for (let n = 0; n < 998; n += 1) open(`tc_${n}:result`);
  expect([isOpen('first'), isOpen('second')]).toEqual([true, true]);
  open('first'); // Touched again: now the second is the oldest.
  open('one more');
  expect([isOpen('first'), isOpen('second')]).toEqual([true, false]);
});
