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
