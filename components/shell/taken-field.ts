import { isTyping } from './is-typing.ts';

/** In ms: keys that were meant for a field which went away still come for so long. */
const TAKEN_MS = 1_000;

let focused: HTMLElement | null = null;
let takenAt = Number.NEGATIVE_INFINITY;

const isRemoved = (field: HTMLElement): boolean => !field.isConnected || field.matches(':disabled');

function check(): void {
  if (!focused || !isRemoved(focused)) return;
  focused = null;
  takenAt = performance.now();
}

/** A dialog closes by the person's own act. */
const isWatched = (target: EventTarget | null): target is HTMLElement =>
  isTyping(target) && target instanceof HTMLElement && !target.closest('[role="dialog"]');

function onIn({ target }: FocusEvent): void {
  check();
  focused = isWatched(target) ? target : null;
}

function onOut({ target }: FocusEvent): void {
  // What is taken out of the page fires this before it is out of it.
  queueMicrotask(() => {
    check();
    if (focused === target) focused = null;
  });
}

/** Watches which text field has the focus, for `isAfterTyping`. Returns the end of it. */
export function watchTakenFields(): () => void {
  document.addEventListener('focusin', onIn);
  document.addEventListener('focusout', onOut);
  return () => {
    document.removeEventListener('focusin', onIn);
    document.removeEventListener('focusout', onOut);
  };
}

/**
 * Whether single keys may still be text (AP12): a text field that had the focus was taken out of the
 * page a moment ago, or a text that was not sent is still shown.
 */
export function isAfterTyping(): boolean {
  check();
  if (performance.now() - takenAt < TAKEN_MS) return true;
  return document.querySelector('[data-kept]') !== null;
}
