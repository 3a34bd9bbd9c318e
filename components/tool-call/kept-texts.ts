import type { Answer } from '#lib/protocol/question';
import { createObservable } from '#lib/util/observable';

/** What a person has written or chosen for a decision. */
export interface Unsent {
  readonly of: 'reason' | 'arguments' | 'answer';
  /** Of an answer that was chosen, the words of what was chosen. */
  readonly text: string;
  /** Chosen and not written. */
  readonly chosen?: Answer;
  /** The arguments that were asked about, where it stands in their place. */
  readonly about?: string;
}

/** The same, not sent yet. */
export interface KeptText extends Unsent {
  /** Of the cursor when its field went away; null: the field had no focus. */
  readonly caret: number | null;
  /** It is on its way: whether it counts is known with the answer. */
  readonly isSending: boolean;
}

/** Of so many calls; the oldest gives way. */
const MOST = 50;

/** By call. Outlives the field, which goes away when another person decides or the page is left (AP12). */
const texts = createObservable<ReadonlyMap<string, KeptText>>(new Map());

export const watchKeptTexts = texts.subscribe;
export const keptTextOf = (callId: string): KeptText | null => texts.get().get(callId) ?? null;

/** What is kept for this field of the card, and not for another one. */
export function unsentOf(callId: string, of: Unsent['of']): KeptText | null {
  const kept = keptTextOf(callId);
  return kept?.of === of ? kept : null;
}

export function keepText(callId: string, unsent: Unsent): void {
  const { caret = null, isSending = false } = keptTextOf(callId) ?? {};
  put(callId, { ...unsent, caret, isSending });
}

export function changeKept(
  callId: string,
  change: Partial<Pick<KeptText, 'text' | 'caret' | 'isSending'>>,
): void {
  const kept = keptTextOf(callId);
  if (kept) put(callId, { ...kept, ...change });
}

function put(callId: string, kept: KeptText): void {
  const next = new Map(texts.get());
  next.set(callId, kept);
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
  changeKept(callId, { isSending: true });
  const isTaken = await request;
  if (isTaken) forgetText(callId);
  else changeKept(callId, { isSending: false });
  return isTaken;
}
