import { expect, test, vi } from 'vitest';
import { keepScreenOn } from './keep-awake.tsx';

function setUp(isRefused = false) {
  const target = new EventTarget();
  const page = {
    visibilityState: 'visible' as DocumentVisibilityState,
    addEventListener: target.addEventListener.bind(target),
    removeEventListener: target.removeEventListener.bind(target),
  };
  const release = vi.fn(async () => {});
  const request = vi.fn(async () => {
    if (isRefused) throw new DOMException('low battery', 'NotAllowedError');
    return { release } as unknown as WakeLockSentinel;
  });
  const failures: boolean[] = [];
  const end = keepScreenOn(page, { request }, (isFailed) => failures.push(isFailed));
  const show = (state: DocumentVisibilityState) => {
    page.visibilityState = state;
    target.dispatchEvent(new Event('visibilitychange'));
  };
  return { request, release, failures, end, show };
}

test('[DP13] the lock is taken at once, again at each return, and let go at the end', async () => {
  const { request, release, failures, end, show } = setUp();
  await expect.poll(() => failures).toEqual([false]);
  show('hidden');
  expect(request).toHaveBeenCalledTimes(1);
  show('visible');
  await expect.poll(() => failures).toEqual([false, false]);
  end();
  expect(release).toHaveBeenCalledOnce();
  show('visible');
  expect(request).toHaveBeenCalledTimes(2);
});

test('[DP13] a system that refuses is reported, and asked again', async () => {
  const { request, failures, show } = setUp(true);
  await expect.poll(() => failures).toEqual([true]);
  show('visible');
  expect(request).toHaveBeenCalledTimes(2);
});
