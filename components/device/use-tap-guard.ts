import { useEffect, useState } from 'react';

/** A tap that was on its way to what lay there before allows nothing. */
const TAP_GUARD_MS = 300;

/** False in the first moment of what it stands in. */
export function useTapGuard(): boolean {
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setReady(true), TAP_GUARD_MS);
    return () => clearTimeout(timer);
  }, []);
  return isReady;
}
