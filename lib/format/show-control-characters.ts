/** C0, DEL, C1, soft hyphen, zero-width, bidirectional marks, separators, BOM (FM7). */
const HIDDEN = new RegExp(
  [
    '[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f',
    '\\u2028-\\u202e\\u2060-\\u2069\\ufeff\\ufff9-\\ufffb]',
  ].join(''),
  'g',
);

const SYMBOLS_FROM = 0x2400;
const DELETE_SYMBOL = '␡';

/**
 * Makes characters visible that would hide or reorder what follows, so that a
 * tool cannot show people something other than what it said.
 */
export function showControlCharacters(text: string, more: { keepLayout?: boolean } = {}): string {
  return text.replace(HIDDEN, (char) => {
    if (more.keepLayout && (char === '\n' || char === '\t')) return char;
    const code = char.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(SYMBOLS_FROM + code);
    if (code === 0x7f) return DELETE_SYMBOL;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}
