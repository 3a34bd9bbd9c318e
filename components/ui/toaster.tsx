'use client';

import { useEffect, useState } from 'react';
import { late } from './late.tsx';
import { whenIdle } from './late-code.ts';
import { waitingToasts } from './toast.ts';
import type { ToastAreaProps } from './toast-area.tsx';

const ToastArea = late<ToastAreaProps>(
  () => import('./toast-area.tsx').then((module) => module.ToastArea),
  { instead: () => null },
);

/**
 * Where short messages appear. Put once into the page. Its code comes when the page is idle, since
 * most messages report that the network failed; a message that is earlier waits for it.
 */
export function Toaster(props: ToastAreaProps) {
  return useIsWanted() && <ToastArea {...props} />;
}

/** Once the page is idle, or has a message. */
function useIsWanted(): boolean {
  const [isWanted, setWanted] = useState(false);
  useEffect(() => {
    const want = () => setWanted(true);
    const stopListening = waitingToasts.subscribe(want);
    const stopWaiting = whenIdle(want);
    if (waitingToasts.get().length > 0) want();
    return () => {
      stopListening();
      stopWaiting();
    };
  }, []);
  return isWanted;
}
