export interface JsonSize {
  /** Lines that a fully opened tree of the value has, at most `maxRows` + 1. */
  readonly rows: number;
  /** About the length of its JSON text, at most a little over `maxChars`. */
  readonly chars: number;
  readonly isWithin: boolean;
}

/** How large a value is to draw. Stops counting at the limits (FM10). */
export function measureJson(value: unknown, maxRows: number, maxChars: number): JsonSize {
  let rows = 0;
  let chars = 0;
  const open: unknown[] = [value];
  while (open.length > 0 && rows <= maxRows && chars <= maxChars) {
    const next = open.pop();
    rows += 1;
    if (typeof next === 'string') chars += next.length + 2;
    else if (typeof next !== 'object' || next === null) chars += 5;
    else {
      chars += 2;
      for (const key in next) {
        if (open.length + rows > maxRows) break;
        chars += key.length + 4;
        open.push(Reflect.get(next, key));
      }
    }
  }
  const isWithin = open.length === 0 && rows <= maxRows && chars <= maxChars;
  return { rows, chars, isWithin };
}
