'use client';

import type { KeyboardEvent, PointerEvent } from 'react';

export interface SplitterProps {
  label: string;
  /** Id of the part before it, whose share it sets. */
  controls: string;
  /** Share of that part, in percent. */
  share: number;
  onShare: (share: number) => void;
}

const MIN_SHARE = 20;
const MAX_SHARE = 80;
const STEP = 5;

const within = (share: number): number => Math.min(MAX_SHARE, Math.max(MIN_SHARE, share));

/** The line between two parts side by side, moved by pointer, arrow keys, Home and End (ARIA's window splitter). */
export function Splitter({ label, controls, share, onShare }: SplitterProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    const next = shareByKey(event.key, share);
    if (next === null) return;
    event.preventDefault();
    onShare(within(next));
  };
  const onPointerMove = ({ currentTarget, pointerId, clientX }: PointerEvent<HTMLElement>) => {
    const box = currentTarget.parentElement?.getBoundingClientRect();
    if (!box || box.width === 0 || !currentTarget.hasPointerCapture(pointerId)) return;
    onShare(within(((clientX - box.left) / box.width) * 100));
  };
  const separator = {
    role: 'separator',
    tabIndex: 0,
    'aria-label': label,
    'aria-controls': controls,
    'aria-orientation': 'vertical',
    'aria-valuenow': Math.round(share),
    'aria-valuemin': MIN_SHARE,
    'aria-valuemax': MAX_SHARE,
    onKeyDown,
    onPointerDown: ({ currentTarget, pointerId }: PointerEvent) =>
      currentTarget.setPointerCapture(pointerId),
    onPointerMove,
  } as const;
  return (
    <div
      {...separator}
      // Wider to the pointer than to the eye.
      className="relative z-10 w-px shrink-0 cursor-col-resize touch-none bg-line outline-offset-0 after:absolute after:inset-y-0 after:-inset-x-2 hover:bg-linestrong active:bg-accent max-md:hidden"
    />
  );
}

function shareByKey(key: string, share: number): number | null {
  switch (key) {
    case 'ArrowLeft':
      return share - STEP;
    case 'ArrowRight':
      return share + STEP;
    case 'Home':
      return MIN_SHARE;
    case 'End':
      return MAX_SHARE;
    default:
      return null;
  }
}
