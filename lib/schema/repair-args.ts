import { isRecord } from '../json/is-record.ts';
import { type CheckRun, enter, leave, type Path, pathText } from './check-run.ts';
import type { SchemaNode, TypeWord } from './schema-node.ts';

/** A number as JSON writes it; nothing that merely converts (`""`, `0x10`, `1e999`). */
const NUMBER_TEXT = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/;

/**
 * Repairs slips that models make often: the text "true" where the schema wants a
 * boolean, "5" where it wants a number. Only where the schema at that very place
 * wants that type and takes no text. Copies what it changes; adds the paths to `repairs`.
 */
export function repairArgs(
  node: SchemaNode,
  value: unknown,
  path: Path | null,
  run: CheckRun,
  repairs: string[],
): unknown {
  if (!enter(run)) {
    leave(run);
    return value;
  }
  let repaired = value;
  if (typeof value === 'string') {
    repaired = repairText(value, typesOf(node));
    if (repaired !== value) repairs.push(pathText(path));
  } else if (Array.isArray(value)) {
    repaired = repairItems(node, value, path, run, repairs);
  } else if (isRecord(value)) {
    repaired = repairEntries(node, value, path, run, repairs);
  }
  // The type of a text was read through these already; what is below them was not.
  if (typeof value === 'object') {
    if (node.ref) repaired = repairArgs(node.ref, repaired, path, run, repairs);
    for (const one of node.allOf ?? []) repaired = repairArgs(one, repaired, path, run, repairs);
  }
  leave(run);
  return repaired;
}

function repairItems(
  node: SchemaNode,
  value: readonly unknown[],
  path: Path | null,
  run: CheckRun,
  repairs: string[],
): readonly unknown[] {
  let changed = false;
  const repaired = value.map((item, key) => {
    const one = node.prefixItems?.[key] ?? node.items;
    const next = one ? repairArgs(one, item, { parent: path, key }, run, repairs) : item;
    changed ||= next !== item;
    return next;
  });
  return changed ? repaired : value;
}

function repairEntries(
  node: SchemaNode,
  value: Record<string, unknown>,
  path: Path | null,
  run: CheckRun,
  repairs: string[],
): Record<string, unknown> {
  let repaired = value;
  for (const [key, item] of Object.entries(value)) {
    // Which schema holds for a key that a pattern may name too is not plain.
    const one =
      node.properties?.get(key) ?? (node.patternProperties ? undefined : node.additionalProperties);
    if (!one) continue;
    const next = repairArgs(one, item, { parent: path, key }, run, repairs);
    if (next === item) continue;
    if (repaired === value) repaired = { ...value };
    repaired[key] = next;
  }
  return repaired;
}

/** What each node leaves open; kept, since a long list asks the same node for each item. */
const knownTypes = new WeakMap<SchemaNode, ReadonlySet<TypeWord> | null>();

/** Types that the schema leaves open for the value; null when it has none. */
function typesOf(node: SchemaNode): ReadonlySet<TypeWord> | null {
  const known = knownTypes.get(node);
  if (known !== undefined) return known;
  let types = node.types ? widen(node.types) : null;
  const narrow = (other: ReadonlySet<TypeWord> | null) => {
    if (other) types = types ? new Set([...types].filter((one) => other.has(one))) : other;
  };
  if (node.ref) narrow(typesOf(node.ref));
  for (const one of node.allOf ?? []) narrow(typesOf(one));
  for (const branches of [node.anyOf, node.oneOf]) {
    const open = branches?.map(typesOf) ?? [null];
    // One branch that takes anything leaves everything open.
    if (!open.includes(null)) narrow(new Set(open.flatMap((one) => [...(one ?? [])])));
  }
  knownTypes.set(node, types);
  return types;
}

/** A number may be whole, so `number` and `integer` together mean `integer`. */
function widen(types: readonly TypeWord[]): ReadonlySet<TypeWord> {
  return new Set(types.includes('number') ? [...types, 'integer' as const] : types);
}

function repairText(text: string, types: ReadonlySet<TypeWord> | null): unknown {
  if (!types || types.has('string')) return text;
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  if (!types.has('integer') || text.length > 40 || !NUMBER_TEXT.test(text)) return text;
  const number = Number(text);
  // Beyond 2^53 the number would not be the one that was written; 1e999 is none at all.
  const faithful = Number.isInteger(number)
    ? Number.isSafeInteger(number)
    : Number.isFinite(number) && types.has('number');
  return faithful ? number : text;
}
