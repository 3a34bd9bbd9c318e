'use client';

import {
  type FocusEvent,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { createPortal } from 'react-dom';

const OPEN_MS = 400;
/** Long enough to reach the words across the gap (WCAG 1.4.13). */
const CLOSE_MS = 200;
const GAP_PX = 6;
const EDGE_PX = 8;

/**
 * Words beside a control on hover and on focus. The control has them as its name, so these are for
 * the eye alone. Escape, a press and scrolling take them away.
 */
export function Tooltip({ text, children }: { text: string; children: ReactNode }) {
  const [beside, setBeside] = useState<DOMRect | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const place = useRef<HTMLSpanElement>(null);
  const set = (isShown: boolean, afterMs: number) => {
    clearTimeout(timer.current);
    const control = place.current?.firstElementChild;
    timer.current = setTimeout(
      () => setBeside(isShown && control ? control.getBoundingClientRect() : null),
      afterMs,
    );
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  const isShown = beside !== null;
  useEffect(() => {
    if (!isShown) return;
    const hide = () => setBeside(null);
    const onKey = ({ key }: KeyboardEvent) => key === 'Escape' && hide();
    document.addEventListener('keydown', onKey);
    document.addEventListener('scroll', hide, true);
    return () => {
      document.removeEventListener('keydown', onKey);
      document.removeEventListener('scroll', hide, true);
    };
  }, [isShown]);
  const listeners = {
    onPointerEnter: ({ pointerType }: PointerEvent) => {
      if (pointerType !== 'touch') set(true, isShown ? 0 : OPEN_MS);
    },
    onPointerLeave: () => set(false, CLOSE_MS),
    onPointerDown: () => set(false, 0),
    onFocus: ({ target }: FocusEvent) => target.matches(':focus-visible') && set(true, 0),
    onBlur: () => set(false, 0),
  };
  return (
    <span ref={place} className="contents" {...listeners}>
      {children}
      {beside && createPortal(<Words text={text} beside={beside} />, document.body)}
    </span>
  );
}

/** Above the control where there is room, else below; never out of the screen. */
function Words({ text, beside }: { text: string; beside: DOMRect }) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const words = element.current;
    if (!words) return;
    const { offsetWidth: width, offsetHeight: height } = words;
    const wanted = beside.left + beside.width / 2 - width / 2;
    const left = Math.max(EDGE_PX, Math.min(wanted, innerWidth - width - EDGE_PX));
    const above = beside.top - GAP_PX - height;
    const top = above >= EDGE_PX ? above : beside.bottom + GAP_PX;
    words.style.translate = `${left}px ${top}px`;
  }, [beside]);
  return (
    <div
      ref={element}
      aria-hidden
      className="popup fixed left-0 top-0 z-50 max-w-72 px-2.5 py-1 text-xs"
    >
      {text}
    </div>
  );
}
