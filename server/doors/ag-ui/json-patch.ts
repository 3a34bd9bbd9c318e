import { sameJson } from '#lib/json/equal';
import { isRecord } from '#lib/json/is-record';

/** Of RFC 6902, those that are sent. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/** RFC 6901, section 3: `~` first, or the `~` of `~1` would be escaped again. */
const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** Below that a value is replaced whole: such are arguments, and they are small. */
const DEPTH = 2;

/**
 * What makes `after` of `before`, which are JSON. The key `__proto__` makes the readers of such
 * patches fail: the object that has it is replaced whole.
 */
export function jsonPatch(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  { path = '', depth = DEPTH } = {},
): PatchOperation[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key): PatchOperation[] => {
    const [was, is] = [own(before, key), own(after, key)];
    const at = `${path}/${escaped(key)}`;
    if (sameJson(was, is)) return [];
    if (is === undefined) return [{ op: 'remove', path: at }];
    if (was === undefined) return [{ op: 'add', path: at, value: is }];
    const goesIn = depth > 1 && isRecord(was) && isRecord(is) && !hasBanned(was) && !hasBanned(is);
    if (goesIn) return jsonPatch(was, is, { path: at, depth: depth - 1 });
    return [{ op: 'replace', path: at, value: is }];
  });
}

/** Not what every object inherits, such as `toString`. */
const own = (value: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(value, key) ? value[key] : undefined;

/** Readers refuse a path with it. */
const hasBanned = (value: object): boolean => Object.hasOwn(value, '__proto__');
