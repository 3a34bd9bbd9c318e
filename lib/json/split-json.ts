import { endOfString } from './parse-json.ts';

const QUOTE = 34;
const COMMA = 44;
const [OPENS_ARRAY, CLOSES_ARRAY] = [91, 93];
const [OPENS_OBJECT, CLOSES_OBJECT] = [123, 125];

/**
 * The texts of a JSON array's elements, each as it was written, so that one that cannot be read
 * takes no other with it. The elements are not checked. Undefined for what is no array, and for more
 * than `most` elements.
 */
export const splitArray = (text: string, most: number): string[] | undefined =>
  split(text, ['[', ']'], most);

/** The texts of a JSON object's values, by their keys. The values are not checked. */
export function splitObject(text: string, most: number): Map<string, string> | undefined {
  const fields = new Map<string, string>();
  for (const part of split(text, ['{', '}'], most) ?? [NO_FIELD]) {
    const [, key, value] = /^\s*"(\w+)"\s*:(.*)$/s.exec(part) ?? [];
    if (key === undefined || value === undefined) return undefined;
    fields.set(key, value);
  }
  return fields;
}

const NO_FIELD = '';

function split(text: string, [first, last]: [string, string], most: number): string[] | undefined {
  const whole = text.trim();
  if (!whole.startsWith(first) || !whole.endsWith(last) || whole.length < 2) return undefined;
  const parts: string[] = [];
  const end = whole.length - 1;
  let depth = 0;
  let from = 1;
  for (let at = 1; at < end; at += 1) {
    const code = whole.charCodeAt(at);
    if (code === QUOTE) at = endOfString(whole, at);
    else if (code === OPENS_ARRAY || code === OPENS_OBJECT) depth += 1;
    else if (code === CLOSES_ARRAY || code === CLOSES_OBJECT) depth -= 1;
    else if (code === COMMA && depth === 0) {
      if (parts.length >= most) return undefined;
      parts.push(whole.slice(from, at));
      from = at + 1;
    }
    if (depth < 0 || at >= end) return undefined;
  }
  const rest = whole.slice(from, end);
  if (parts.length > 0 || rest.trim() !== '') parts.push(rest);
  return depth === 0 && parts.length <= most ? parts : undefined;
}
