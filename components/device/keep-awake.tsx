import { useEffect, useState } from 'react';
import { flag } from '#lib/client/guards/guard';
import { useDevicePage } from './device-context.tsx';

/** A screen that turns off hides the page, and then calls wait. */
export function KeepAwake() {
  const { texts, memory } = useDevicePage();
  const [isOn, setOn] = useState(() => memory.read(':awake', flag) ?? false);
  const [isFailed, setFailed] = useState(false);
  const isMissing = !('wakeLock' in navigator);
  useEffect(() => {
    if (!isOn || isMissing) return undefined;
    return keepScreenOn(document, navigator.wakeLock, setFailed);
  }, [isOn, isMissing]);
  const { label, on, off, failed, missing } = texts.awake;
  const state = isOn ? on : off;
  return (
    <section className="flex flex-col gap-1">
      <label className="flex min-h-12 items-center justify-between gap-4 font-semibold text-lg">
        {label}
        <input
          type="checkbox"
          className="size-7 shrink-0 accent-(--accent)"
          checked={isOn && !isMissing}
          disabled={isMissing}
          onChange={({ target }) => {
            memory.write(':awake', target.checked);
            setFailed(false);
            setOn(target.checked);
          }}
        />
      </label>
      <p className={isFailed ? 'text-wait' : 'text-muted'}>
        {isMissing ? missing : isFailed ? failed : state}
      </p>
    </section>
  );
}

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
