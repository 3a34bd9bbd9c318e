// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { showErrorToast, showToast, Toaster } from './toast.tsx';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  act(() => vi.advanceTimersByTime(20_000));
  vi.useRealTimers();
  cleanup();
});

const setup = () => render(<Toaster label="Messages" closeLabel="Close" />);
const texts = () => screen.queryAllByTestId('toast').map((toast) => toast.textContent);

test('a message appears in a live region that was there before it, and goes by itself', () => {
  setup();
  const region = screen.getByRole('region', { name: 'Messages' });
  expect(region.getAttribute('aria-live')).toBe('polite');
  act(() => showToast('Copied'));
  expect(region.textContent).toBe('Copied');
  act(() => vi.advanceTimersByTime(4_000));
  expect(texts()).toEqual([]);
});

test('an error stays longer, and as long as a person is on it', () => {
  setup();
  act(() => showErrorToast('It did not work', 'Why'));
  act(() => vi.advanceTimersByTime(9_000));
  fireEvent.pointerEnter(screen.getByTestId('toast'));
  act(() => vi.advanceTimersByTime(60_000));
  expect(texts()).toEqual(['It did not workWhy']);
  fireEvent.click(screen.getByRole('button', { name: 'Close' }));
  expect(texts()).toEqual([]);
});

test('of more than three the oldest give way', () => {
  setup();
  act(() => {
    for (const title of ['1', '2', '3', '4']) showToast(title);
  });
  expect(texts()).toEqual(['2', '3', '4']);
});
