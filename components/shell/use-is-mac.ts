'use client';

import { useSyncExternalStore } from 'react';

const never = () => () => {};

/** Whether keys are called as on a Mac; false while the server draws. */
export const useIsMac = (): boolean =>
  useSyncExternalStore(
    never,
    () => /Mac|iPhone|iPad/.test(navigator.userAgent),
    () => false,
  );
