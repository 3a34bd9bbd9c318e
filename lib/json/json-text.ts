/** From here on making the text again costs more than remembering it. In UTF-16 units. */
const LARGE_CHARS = 256 * 1024;

let last: { readonly value: unknown; readonly text: string } | undefined;

/**
 * Large values come one at a time, and their text is wanted several times in one
 * turn: by the size, the hash, the event and the row. It is remembered until that
 * turn is over, so that it is made once.
 */
export function rememberJsonText(value: unknown, text: string): void {
  if (text.length < LARGE_CHARS) return;
  if (!last) queueMicrotask(forget);
  last = { value, text };
}

const forget = (): void => {
  last = undefined;
};

/** The text of a value that JSON can hold; by identity, the one that is remembered. */
export const jsonText = (value: unknown): string => rememberedText(value) ?? JSON.stringify(value);

export const rememberedText = (value: unknown): string | undefined =>
  last && Object.is(last.value, value) ? last.text : undefined;
