/** A smaller one may stay until another takes its place. In UTF-16 units. */
const LARGE_CHARS = 64 * 1024;

let last: { readonly value: unknown; readonly text: string } | undefined;

/**
 * The text of a result is wanted several times in one turn: by the size, the hash, the event and
 * the row. The newest is remembered, so that it is made once; a large one until that turn is over.
 */
export function rememberJsonText(value: unknown, text: string): void {
  if (text.length >= LARGE_CHARS) queueMicrotask(forgetLarge);
  last = { value, text };
}

function forgetLarge(): void {
  if (last && last.text.length >= LARGE_CHARS) last = undefined;
}

/** The text of a value that JSON can hold; by identity, the one that is remembered. */
export const jsonText = (value: unknown): string => rememberedText(value) ?? JSON.stringify(value);

export const rememberedText = (value: unknown): string | undefined =>
  last && Object.is(last.value, value) ? last.text : undefined;
