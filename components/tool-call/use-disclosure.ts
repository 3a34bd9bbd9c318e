'use client';

import { useState } from 'react';

/** What people opened or closed, by key. Outlives a card that scrolled out of the list. */
const memory = new Map<string, boolean>();
/** Of so many parts of cards; the ones used least recently are as they were at first. */
const REMEMBERED = 1_000;

function remember(key: string, open: boolean): void {
  memory.delete(key); // Set anew, so that it is the youngest.
  memory.set(key, open);
  for (const oldest of memory.keys()) {
    if (memory.size <= REMEMBERED) break;
    memory.delete(oldest);
  }
}

/** Open or closed, remembered under `key`. The default counts until a person decides. */
export function useDisclosure(key: string, openByDefault: boolean) {
  const [chosen, setChosen] = useState(() => memory.get(key));
  const isOpen = chosen ?? openByDefault;
  const set = (open: boolean) => {
    remember(key, open);
    setChosen(open);
  };
  return { isOpen, set, toggle: () => set(!isOpen) };
}
