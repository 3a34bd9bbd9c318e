// @vitest-environment happy-dom
import { act, render, screen, waitFor } from '@testing-library/react';
import { NextIntlClientProvider } from 'next-intl';
import { beforeEach, expect, test, vi } from 'vitest';
import { catalogue } from '#lib/i18n/catalogue';
import { showErrorToast, showToast } from './toast.ts';
import { Toaster } from './toaster.tsx';

// The page is idle as soon as it is drawn.
beforeEach(() => {
  vi.stubGlobal('requestIdleCallback', (run: () => void) => setTimeout(run));
  vi.stubGlobal('cancelIdleCallback', clearTimeout);
});
const setup = () =>
  render(
    <NextIntlClientProvider locale="en" messages={catalogue.en}>
      <Toaster label="Messages" closeLabel="Close" />
    </NextIntlClientProvider>,
  );

const toastOf = async (title: string) => (await screen.findByText(title)).closest('li');

test('messages that came before the code that draws them are shown', async () => {
  showToast('Before the page');
  setup();
  act(() => showErrorToast('Before the code', 'Why\u202E'));
  expect((await toastOf('Before the page'))?.textContent).toBe('Before the page');
  const error = await toastOf('Before the code');
  expect(error?.textContent).toBe('Before the codeWhy⟨U+202E⟩');
  expect(error?.getAttribute('data-type')).toBe('error');
});

test('the live region is there before its first message, whose button has a name', async () => {
  setup();
  const region = await screen.findByRole('region', { name: /^Messages/ });
  expect(region.getAttribute('aria-live')).toBe('polite');
  act(() => showToast('Copied'));
  const toast = await toastOf('Copied');
  expect(region.contains(toast)).toBe(true);
  const close = toast?.querySelector('button');
  expect(close?.getAttribute('aria-label')).toBe('Close');
  act(() => close?.click());
  await waitFor(() => expect(toast?.getAttribute('data-removed')).toBe('true'));
});
