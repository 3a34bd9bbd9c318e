type Page = Pick<Document, 'addEventListener' | 'removeEventListener' | 'visibilityState'>;

/**
 * Holds the screen on while the page is in front. A browser takes the lock back when the page is
 * hidden, so it is asked for again at each return. Returns the function that ends it.
 */
export function keepScreenOn(
  page: Page,
  wakeLock: Pick<WakeLock, 'request'>,
  onFailed: (isFailed: boolean) => void,
): () => void {
  let isOver = false;
  let held: WakeLockSentinel | undefined;
  const take = async () => {
    if (isOver || page.visibilityState !== 'visible') return;
    try {
      const lock = await wakeLock.request('screen');
      if (isOver) return await lock.release();
      held = lock;
      onFailed(false);
    } catch {
      // The system decides: a low battery is a reason. The next return to the page asks again.
      if (!isOver) onFailed(true);
    }
  };
  const onChange = () => void take();
  page.addEventListener('visibilitychange', onChange);
  void take();
  return () => {
    isOver = true;
    page.removeEventListener('visibilitychange', onChange);
    void held?.release();
  };
}
