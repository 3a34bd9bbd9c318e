import { createObservable } from '#lib/util/observable';

/** In ms: a key that cancels is pressed again within it. */
const AGAIN_MS = 2_000;

/** The call whose cancel was asked for by one key press, and is by a second (CD37). */
export const askedCancel = createObservable<string | null>(null);

let timer: ReturnType<typeof setTimeout> | undefined;

/** Whether it was asked for a moment before; otherwise it is asked for from now on. */
export function isAskedAgain(callId: string): boolean {
  clearTimeout(timer);
  const isAgain = askedCancel.get() === callId;
  askedCancel.set(isAgain ? null : callId);
  if (!isAgain) timer = setTimeout(() => askedCancel.set(null), AGAIN_MS);
  return isAgain;
}
