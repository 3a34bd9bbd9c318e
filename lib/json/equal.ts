/**
 * True of two JSON values that are equal, whatever the order of their keys. `onLook` is given how
 * many members of the two are looked at next; where it returns false, they count as unequal.
 */
export function sameJson(a: unknown, b: unknown, onLook?: (members: number) => boolean): boolean {
  // -0 and 0 are one number, as in JSON Schema.
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const members = Object.entries(a);
  const others = Object.keys(b).length;
  return (
    onLook?.(members.length + others) !== false &&
    members.length === others &&
    members.every(
      ([key, value]) => Object.hasOwn(b, key) && sameJson(value, Reflect.get(b, key), onLook),
    )
  );
}

/** JSON text with sorted keys: equal for values that JSON Schema calls equal (`1` and `1.0`, any key order). */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) {
    // -0 and 0 are one number in JSON Schema.
    return JSON.stringify(value === 0 ? 0 : value) ?? 'undefined';
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonicalJson(one)}`).join(',')}}`;
}
