import { useEffect, useState } from 'react';

/** Milliseconds since the epoch by this clock, each second anew. */
export function useNow(clock: () => number): number {
  const [now, setNow] = useState(clock);
  useEffect(() => {
    const timer = setInterval(() => setNow(clock()), 1_000);
    return () => clearInterval(timer);
  }, [clock]);
  return now;
}
