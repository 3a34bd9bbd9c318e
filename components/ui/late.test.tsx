// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { NextIntlClientProvider } from 'next-intl';
import type { ReactNode } from 'react';
import { expect, test } from 'vitest';
import { catalogue } from '#lib/i18n/catalogue';
import { late } from './late.tsx';
import { retryLateCode } from './late-code.ts';

const Shown = ({ text }: { text: string }) => <p>{text}</p>;

const show = (view: ReactNode, locale: 'en' | 'zh' = 'en') =>
  render(
    <NextIntlClientProvider locale={locale} messages={catalogue[locale]}>
      {view}
    </NextIntlClientProvider>,
  );

test('it shows that it is loading, and then is there with its newest props', async () => {
  const code = Promise.withResolvers<typeof Shown>();
  const Late = late<{ text: string }>(() => code.promise);
  show(<Late text="here" />);
  expect(screen.getByRole('status').textContent).toBe('Loading…');
  await act(async () => code.resolve(Shown));
  expect(screen.getByText('here')).toBeDefined();
  cleanup();
  show(<Late text="at once" />);
  expect(screen.getByText('at once')).toBeDefined();
});

test('code that cannot be had is shown to be so, in both languages, and can be tried again', async () => {
  let isThere = false;
  const Late = late<{ text: string }>(async () => {
    if (!isThere) throw new Error('no network');
    return Shown;
  });
  await act(async () => void show(<Late text="here" />, 'zh'));
  expect(screen.getByRole('alert').textContent).toContain('无法加载页面的这一部分。');
  isThere = true;
  await act(async () => void fireEvent.click(screen.getByRole('button', { name: '重试' })));
  expect(screen.getByText('here')).toBeDefined();
});

test('code that could not be had appears by itself when the network is back', async () => {
  let isThere = false;
  const Late = late<{ text: string }>(async () => {
    if (!isThere) throw new Error('no network');
    return Shown;
  });
  await act(async () => void show(<Late text="here" />));
  expect(screen.getByRole('alert')).toBeDefined();
  isThere = true;
  await act(async () => retryLateCode());
  expect(screen.getByText('here')).toBeDefined();
});

test('where there is a plainer way to show the same, that is shown until then', async () => {
  const Late = late<{ text: string }>(() => Promise.reject(new Error('no network')), {
    instead: ({ text }) => <pre>{text}</pre>,
  });
  await act(async () => void show(<Late text="as it came" />));
  expect(screen.getByText('as it came')).toBeDefined();
  expect(screen.queryByRole('alert')).toBeNull();
});
