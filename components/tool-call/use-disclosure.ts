'use client';

import { useState } from 'react';

/** What people opened or closed, by key. Outlives a card that scrolled out of the list. */
const memory = new Map<string, boolean>();

/** Open or closed, remembered under `key`. The default counts until somebody decides. */
export function useDisclosure(key: string, openByDefault: boolean) {
  const [chosen, setChosen] = useState(() => memory.get(key));
  const isOpen = chosen ?? openByDefault;
  const set = (open: boolean) => {
    memory.set(key, open);
    setChosen(open);
  };
  return { isOpen, set, toggle: () => set(!isOpen) };
}
