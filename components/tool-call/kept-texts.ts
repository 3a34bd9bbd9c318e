import { createObservable } from '#lib/util/observable';

/** What a person has written for a decision and not sent. */
export interface KeptText {
  readonly text: string;
  /** Of the cursor when its field went away; null: the field had no focus. */
  readonly caret: number | null;
  /** It is on its way: whether it counts is known with the answer. */
  readonly isSending: boolean;
}

/** Of so many calls; the oldest gives way. */
const MOST = 50;
const FRESH: KeptText = { text: '', caret: null, isSending: false };

/** By call. Outlives the field, which goes away when another person decides (AP12). */
const texts = createObservable<ReadonlyMap<string, KeptText>>(new Map());

export const watchKeptTexts = texts.subscribe;
export const keptTextOf = (callId: string): KeptText | null => texts.get().get(callId) ?? null;

export function keepText(callId: string, change: Partial<KeptText>): void {
  const next = new Map(texts.get());
  next.set(callId, { ...FRESH, ...next.get(callId), ...change });
  for (const oldest of next.keys()) {
    if (next.size <= MOST) break;
    next.delete(oldest);
  }
  texts.set(next);
}

export function forgetText(callId: string): void {
  if (!texts.get().has(callId)) return;
  const next = new Map(texts.get());
  next.delete(callId);
  texts.set(next);
}

/** A decision that was taken needs its text no more; after one that was refused the text is still there. */
export async function untilTaken(callId: string, request: Promise<boolean>): Promise<boolean> {
  const change = (isSending: boolean) => keptTextOf(callId) && keepText(callId, { isSending });
  change(true);
  const isTaken = await request;
  if (isTaken) forgetText(callId);
  else change(false);
  return isTaken;
}
