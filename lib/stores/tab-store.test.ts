import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTabStore, REGISTRATION_MS, registeredClient, type TabState } from './tab-store.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A tab, and what was answered to a person's request in it; undefined while that waits. */
function setup(state: Partial<TabState>) {
  const tab = createTabStore();
  tab.setState(state);
  let answer: string | null | undefined;
  const asked = registeredClient(tab).then((asking) => {
    answer = asking?.clientId ?? null;
  });
  return { tab, asked, answer: () => answer };
}

test('[SR1] a request waits until the tools of the tab are registered', async () => {
  const { tab, asked, answer } = setup({});
  tab.setState({ clientId: 'tab_1' });
  await vi.advanceTimersByTimeAsync(REGISTRATION_MS - 1);
  expect(answer()).toBeUndefined();
  expect(tab.getState().waiting).toBe(1);
  tab.setState({ status: 'registered' });
  await asked;
  expect(answer()).toBe('tab_1');
  expect(tab.getState().waiting).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test('[SR1] the wait ends when the tab could not be connected, and after ten seconds', async () => {
  const failed = setup({});
  failed.tab.setState({ status: 'disconnected' });
  await failed.asked;
  expect(failed.answer()).toBeNull();
  const silent = setup({ clientId: 'tab_1' });
  await vi.advanceTimersByTimeAsync(REGISTRATION_MS);
  expect(silent.answer()).toBe('tab_1');
  expect(silent.tab.getState().waiting).toBe(0);
});

test('[SR2] a request in a tab that is disconnected makes the next attempt at once', async () => {
  const tab = createTabStore();
  const retryNow = vi.fn(() => tab.setState({ status: 'connecting' }));
  tab.setState({ status: 'disconnected', retryNow });
  const asked = registeredClient(tab);
  expect(retryNow).toHaveBeenCalledOnce();
  expect(tab.getState().waiting).toBe(1);
  tab.setState({ status: 'registered', clientId: 'tab_1', instanceId: 'page_1' });
  expect(await asked).toEqual({ clientId: 'tab_1', instanceId: 'page_1' });
});

test('[SR2] a tab that makes no attempts any more holds nothing up', async () => {
  const refused = setup({ status: 'disconnected', clientId: 'tab_1' });
  await refused.asked;
  expect(refused.answer()).toBe('tab_1');
});
