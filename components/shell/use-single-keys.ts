'use client';

import { useState } from 'react';
import { browserMemory } from '../providers/stored-text.ts';

const KEY = 'callboard:single-keys';

/** Single keys can be switched off: speech input types words that would be taken for them. */
export const singleKeysOn = (): boolean => browserMemory.read(KEY) !== 'off';

export function useSingleKeys(): { on: boolean; set: (on: boolean) => void } {
  const [on, setOn] = useState(singleKeysOn);
  return {
    on,
    set: (wanted) => {
      browserMemory.write(KEY, wanted ? null : 'off');
      setOn(wanted);
    },
  };
}
