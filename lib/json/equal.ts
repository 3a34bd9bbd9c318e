/**
 * Whether two JSON values are equal, whatever the order of their keys. `onLook` is given how
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
