/** A text of this size or more is kept with its value, or, where that cannot be, until its turn is over. In UTF-16 units. */
const LARGE_CHARS = 16 * 1024;
/** A longer one would be too much memory beside its value, which waits for the disk and for its readers. */
const KEPT_CHARS = 256 * 1024;

const kept = new WeakMap<object, string>();
let last: { readonly value: unknown; readonly text: string } | undefined;

/**
 * The text of a result is wanted several times: by the size, the hash, the log and the caller. It is
 * remembered, so that it is made once: the newest alone, and of large values each with its value.
 */
export function rememberJsonText(value: unknown, text: string): void {
  const isLarge = text.length >= LARGE_CHARS;
  if (isLarge && text.length <= KEPT_CHARS && isObject(value)) return void kept.set(value, text);
  if (isLarge) queueMicrotask(forgetLarge);
  last = { value, text };
}

function forgetLarge(): void {
  if (last && last.text.length >= LARGE_CHARS) last = undefined;
}

/** The text of a value that JSON can hold; by identity, the one that is remembered. */
export const jsonText = (value: unknown): string => rememberedText(value) ?? JSON.stringify(value);

export function rememberedText(value: unknown): string | undefined {
  if (last && Object.is(last.value, value)) return last.text;
  return isObject(value) ? kept.get(value) : undefined;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
