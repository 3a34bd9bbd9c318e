// @vitest-environment happy-dom
import { act, render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { catalogue } from '#lib/i18n/catalogue';
import { LiveCalls } from '../tool-call/live-calls.tsx';
import { createTestWorkbench, InWorkbench } from '../tool-call/testing/in-workbench.tsx';
import { LiveRegions } from './app-frame.tsx';
import { ConnectionState } from './connection-state.tsx';

const setup = (locale: 'en' | 'zh') => {
  const { workbench } = createTestWorkbench();
  const { connection } = workbench;
  connection.setState({ feed: { kind: 'reconnecting', attempt: 3, retryAt: 0 } });
  render(
    <InWorkbench workbench={workbench} locale={locale}>
      <ConnectionState />
      <LiveRegions />
      <LiveCalls />
    </InWorkbench>,
  );
  const setStoreFailed = (storeFailed: boolean) => act(() => connection.setState({ storeFailed }));
  return { setStoreFailed, header: () => screen.getByTestId('connection').textContent };
};

test.each([
  ['en', 'Reconnecting… (3)'],
  ['zh', '正在重新连接…（第 3 次）'],
] as const)('a disk that takes nothing is named in words (%s)', (locale, reconnecting) => {
  const { shell, errors, card } = catalogue[locale];
  const { setStoreFailed, header } = setup(locale);
  const announced = () => screen.getAllByRole('status').map((region) => region.textContent);
  expect(header()).toContain(reconnecting);
  expect(screen.getByText(card.list.loading)).toBeTruthy();
  setStoreFailed(true);
  expect(header()).toContain(errors.request.store_failed);
  expect(header()).toContain(shell.connection.retryNow);
  expect(announced()).toContain(errors.request.store_failed);
  expect(screen.queryByText(card.list.loading)).toBeNull();
  setStoreFailed(false);
  expect(header()).not.toContain(errors.request.store_failed);
  expect(announced()).not.toContain(errors.request.store_failed);
  expect(announced()).toContain(shell.connection.lost);
  expect(screen.getByText(card.list.loading)).toBeTruthy();
});
