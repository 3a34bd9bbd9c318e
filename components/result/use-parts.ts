'use client';

import { useState } from 'react';

/** One part of something that is drawn a part at a time. `from` and `to` count from 0, `to` not included. */
export interface Parts {
  readonly part: number;
  readonly parts: number;
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly go: (part: number) => void;
}

/** Which part is shown of `count` things, `size` at a time. What is there may become less. */
export function useParts(count: number, size: number): Parts {
  const [chosen, setChosen] = useState(0);
  const parts = Math.max(1, Math.ceil(count / size));
  const part = Math.min(chosen, parts - 1);
  const from = part * size;
  return {
    part,
    parts,
    from,
    to: Math.min(from + size, count),
    count,
    go: (to) => setChosen(Math.min(Math.max(0, to), parts - 1)),
  };
}
