import { LIMITS } from '#lib/protocol/limits';

/**
 * Whether a parsed value nests deeper than any JSON here may. It walks without
 * recursion, since `JSON.parse` accepts depths at which `JSON.stringify` throws.
 */
export function isNestedTooDeep(value: unknown): boolean {
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.depth >= LIMITS.jsonDepth) return true;
    for (const child of Object.values(next.value)) {
      open.push({ value: child, depth: next.depth + 1 });
    }
  }
  return false;
}
