'use client';

import { useEffect, useState } from 'react';

/** What is read again so changes by itself, and no event reports it. */
const EACH_MS = 3_000;

/** Another number every few seconds as long as the page is seen, and once it is seen again. */
export function useTicks(): number {
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    const tick = () => {
      if (document.visibilityState === 'visible') setTicks((before) => before + 1);
    };
    const timer = setInterval(tick, EACH_MS);
    document.addEventListener('visibilitychange', tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', tick);
    };
  }, []);
  return ticks;
}
