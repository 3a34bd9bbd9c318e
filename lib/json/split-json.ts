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
  const commas = commasOf(whole, most);
  if (!commas) return undefined;
  const parts: string[] = [];
  let from = 1;
  for (const at of commas) {
    parts.push(whole.slice(from, at));
    from = at + 1;
  }
  const rest = whole.slice(from, -1);
  if (parts.length > 0 || rest.trim() !== '') parts.push(rest);
  return parts.length <= most ? parts : undefined;
}

/** The places of the commas between the parts; undefined where these are too many, or no parts at all. */
function commasOf(whole: string, most: number): number[] | undefined {
  const commas: number[] = [];
  const end = whole.length - 1;
  let depth = 0;
  let at = 1;
  for (; at < end; at += 1) {
    switch (whole.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(whole, at);
        break;
      case OPENS_ARRAY:
      case OPENS_OBJECT:
        depth += 1;
        break;
      case CLOSES_ARRAY:
      case CLOSES_OBJECT:
        depth -= 1;
        break;
      case COMMA:
        if (depth === 0) commas.push(at);
    }
    if (depth < 0 || commas.length > most) return undefined;
  }
  // A string without an end leads beyond it.
  return depth === 0 && at === end ? commas : undefined;
}
