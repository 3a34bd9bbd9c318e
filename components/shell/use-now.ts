'use client';

import { useEffect, useState } from 'react';
import { serverNow } from '../ui/server-clock.ts';

/** The time, once a second, while `running`: by the server's clock, unless another is given. */
export function useNow(running: boolean, clock: () => number = serverNow): number {
  const [now, setNow] = useState(clock);
  useEffect(() => {
    if (!running) return;
    setNow(clock());
    const timer = setInterval(() => setNow(clock()), 1_000);
    return () => clearInterval(timer);
  }, [running, clock]);
  return now;
}
