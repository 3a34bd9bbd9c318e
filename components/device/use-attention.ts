import { useEffect } from 'react';
import { useStore } from 'zustand';
import { useDevicePage } from './device-context.tsx';
import type { DeviceStore } from './device-store.ts';
import { fill } from './texts.ts';

const FLASH_MS = 1_000;
const PATTERN = [200, 100, 200];

/** A question that comes while the person looks elsewhere: the phone shakes, the title changes. */
export function useAttention(store: DeviceStore, name: string): void {
  const { texts } = useDevicePage();
  const id = useStore(store, ({ asks }) => asks[0]?.id);
  useEffect(() => {
    if (id !== undefined && 'vibrate' in navigator) navigator.vibrate(PATTERN);
  }, [id]);
  useEffect(() => {
    const plain = `${name} · ${texts.app}`;
    let isFlash = false;
    const show = () => {
      const isHidden = document.hidden;
      isFlash = id !== undefined && isHidden && !isFlash;
      if (isFlash) document.title = texts.ask.flash;
      else document.title = isHidden ? fill(texts.state.hidden, { name }) : plain;
    };
    show();
    const timer = id === undefined ? undefined : setInterval(show, FLASH_MS);
    document.addEventListener('visibilitychange', show);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', show);
    };
  }, [id, name, texts]);
}
