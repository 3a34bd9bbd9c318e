'use client';

import {
  type CSSProperties,
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useState,
} from 'react';

/** Width of the first part in percent of both, before a person moves the line. */
const USUAL = 41.7;
/** Percent by which an arrow key moves the line. */
const STEP = 2;
/** Pixels that each part keeps; the columns below have the same numbers. */
const FIRST_LEAST = 300;
const SECOND_LEAST = 320;

export interface SplitProps {
  /** Name of the line between the parts. */
  label: string;
  /** Id of the first part, whose width the line sets. */
  controls: string;
  /** `data-shown` of the whole, for the styles of narrow screens. */
  shown: string;
  className: string;
  first: ReactNode;
  second: ReactNode;
}

/** Two parts side by side; the line between them is moved by the pointer, arrow keys, Home and End. */
export function Split({ label, controls, shown, className, first, second }: SplitProps) {
  const [share, setShare] = useState(USUAL);
  const style: CSSProperties & Record<'--first', string> = { '--first': `${share}%` };
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    // Moving the line marks no text; the press is no longer a way to get the focus.
    event.preventDefault();
    event.currentTarget.focus();
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent<HTMLElement>) => {
    const { currentTarget: line, clientX } = event;
    if (line.hasPointerCapture(event.pointerId)) {
      setShare(within(line, (left, width) => ((clientX - left) / width) * 100));
    }
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const to = { ArrowLeft: share - STEP, ArrowRight: share + STEP, Home: 0, End: 100 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    setShare(within(event.currentTarget, () => to));
  };
  return (
    <div
      data-shown={shown}
      style={style}
      className={`grid grid-rows-[minmax(0,1fr)] md:grid-cols-[clamp(300px,var(--first),100%_-_321px)_1px_minmax(0,1fr)] ${className}`}
    >
      {first}
      {/* biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved */}
      <div
        role="separator"
        tabIndex={0}
        aria-label={label}
        aria-orientation="vertical"
        aria-controls={controls}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share)}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onDoubleClick={() => setShare(USUAL)}
        onKeyDown={onKeyDown}
        className="relative z-10 cursor-col-resize touch-none bg-line outline-offset-0 before:absolute before:-inset-x-2 before:inset-y-0 hover:bg-linestrong active:bg-accent max-md:hidden"
      />
      {second}
    </div>
  );
}

/** Percent that leave both parts what they keep. */
function within(line: HTMLElement, wanted: (left: number, width: number) => number): number {
  const { left = 0, width = 1 } = line.parentElement?.getBoundingClientRect() ?? {};
  const least = (FIRST_LEAST / width) * 100;
  const most = ((width - SECOND_LEAST) / width) * 100;
  return Math.max(least, Math.min(most, wanted(left, width)));
}
