import { isRecord } from '../json/is-record.ts';
import { parseJson } from '../json/parse-json.ts';
import { LIMITS } from '../protocol/limits.ts';
import { type CheckRun, type Path, pathText } from './check-run.ts';
import { isOfType } from './check-scalar.ts';
import { accepts, conditional } from './evaluate.ts';
import type { SchemaNode, TypeWord } from './schema-node.ts';

/** The types that each node leaves open are kept: a long list asks the same node for each item. */
const knownTypes = new WeakMap<SchemaNode, ReadonlySet<TypeWord> | null>();

/** Types that the schema leaves open for the value; null when it leaves all of them open. */
function openTypes(node: SchemaNode): ReadonlySet<TypeWord> | null {
  const known = knownTypes.get(node);
  if (known !== undefined) return known;
  let types = node.types ? widen(node.types) : null;
  const narrow = (other: ReadonlySet<TypeWord> | null) => {
    if (other) types = types ? new Set([...types].filter((one) => other.has(one))) : other;
  };
  if (node.allowed) narrow(node.allowed.types);
  if (node.ref) narrow(openTypes(node.ref));
  for (const one of node.allOf ?? []) narrow(openTypes(one));
  for (const branches of [node.anyOf, node.oneOf]) {
    const open = branches?.map(openTypes) ?? [null];
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

/** Parsing and its checks go over a text more than once. */
const CHARS_PER_STEP = 4;
/** A key is listed, looked up and, where one of them changes, copied. */
const STEPS_PER_KEY = 3;

/** Names a place that was changed; a long name is work, and each change inside it repeats it. */
function note(run: CheckRun, path: Path | null): void {
  if (run.isOver) return;
  const text = pathText(path);
  run.spend(text.length / CHARS_PER_STEP);
  run.repairs.push(text);
}

/**
 * Repairs slips that models make often (rules SC11 to SC14, SC26 to SC31): a text
 * in place of the boolean, number, list or object that it spells, a lone value in
 * place of a list of one, and null in place of nothing. Only where the schema at that very place refuses the
 * value for its type. Copies what it changes; adds the paths to the repairs of the run. Once its budget
 * is used up, what it gives is void (SC31).
 */
export function repairArgs(node: SchemaNode, value: unknown, path: Path | null, run: CheckRun) {
  if (!run.enter()) return value;
  const repaired = repairHere(node, value, path, run);
  run.leave();
  return repaired;
}

function repairHere(node: SchemaNode, value: unknown, path: Path | null, run: CheckRun): unknown {
  const types = openTypes(node);
  const read = typeof value === 'string' && types ? readText(value, types, run) : value;
  if (types && isLone(read, types)) {
    // The list is kept where the schema accepts it; else the model reads about the value as it was.
    return tried(node, value, run, () => {
      note(run, path);
      return repairArgs(node, [read], path, run);
    });
  }
  if (read !== value) note(run, path);
  if (Array.isArray(read)) {
    return repairInPlace(node, repairItems(node, read, path, run), path, run);
  }
  if (!isRecord(read)) return read;
  return repairInPlace(node, repairEntries(node, read, path, run), path, run);
}

/** The value as `repair` leaves it where the schema accepts that; else as it was, and nothing is noted. */
function tried(node: SchemaNode, value: unknown, run: CheckRun, repair: () => unknown): unknown {
  const { length } = run.repairs;
  const repaired = repair();
  if (repaired !== value && accepts(node, repaired, run)) return repaired;
  run.repairs.length = length;
  return value;
}

/** Reads what the text spells, where the schema takes no text and has that type open. */
function readText(text: string, types: ReadonlySet<TypeWord>, run: CheckRun): unknown {
  if (types.has('string')) return text;
  const scalar = readScalarText(text, types);
  if (scalar !== text || !(types.has('array') || types.has('object'))) return scalar;
  if (!run.spend(text.length / CHARS_PER_STEP)) return text;
  const json = readJsonText(text);
  // A lone object is a list's item, which is looked at next.
  return Array.isArray(json) && !types.has('array') ? text : json;
}

/** True where a list is wanted, and this is no value that the types have open. */
function isLone(value: unknown, types: ReadonlySet<TypeWord>): boolean {
  if (!types.has('array') || value === null) return false;
  // Half of a list, and text without any, are not the one item of another.
  if (typeof value === 'string' && (value.trim() === '' || looksLikeJson(value))) return false;
  return ![...types].some((type) => isOfType(value, type));
}

/** By the other schemas that hold for the same value. */
function repairInPlace(node: SchemaNode, value: unknown, path: Path | null, run: CheckRun) {
  let repaired = value;
  if (node.ref) repaired = repairArgs(node.ref, repaired, path, run);
  for (const one of node.allOf ?? []) repaired = repairArgs(one, repaired, path, run);
  for (const branches of [node.anyOf, node.oneOf]) {
    if (branches) repaired = repairByBranch(branches, repaired, path, run);
  }
  for (const one of conditional(node, repaired, run)) {
    repaired = repairArgs(one, repaired, path, run);
  }
  return repaired;
}

/** The first branch that accepts the value once it is repaired; none where one accepts it as it is. */
function repairByBranch(
  branches: readonly SchemaNode[],
  value: unknown,
  path: Path | null,
  run: CheckRun,
): unknown {
  if (branches.some((one) => accepts(one, value, run))) return value;
  for (const one of branches) {
    if (run.isOver) break;
    const repaired = tried(one, value, run, () => repairArgs(one, value, path, run));
    if (repaired !== value) return repaired;
  }
  return value;
}

function repairItems(
  { items, prefixItems }: SchemaNode,
  value: readonly unknown[],
  path: Path | null,
  run: CheckRun,
): readonly unknown[] {
  const count = items ? value.length : Math.min(value.length, prefixItems?.length ?? 0);
  let repaired: unknown[] | undefined;
  for (let key = 0; key < count && !run.isOver; key += 1) {
    const one = prefixItems?.[key] ?? items;
    const next = one ? repairArgs(one, value[key], { parent: path, key }, run) : value[key];
    if (next === value[key]) continue;
    if (!repaired && !run.spend(value.length)) break;
    repaired ??= [...value];
    repaired[key] = next;
  }
  return repaired ?? value;
}

const mayBeLeftOut = ({ properties, required }: SchemaNode, key: string): boolean =>
  properties?.has(key) === true && required?.includes(key) !== true;

function repairEntries(
  node: SchemaNode,
  value: Record<string, unknown>,
  path: Path | null,
  run: CheckRun,
): Record<string, unknown> {
  // Which schema holds for a key that a pattern may name too is not plain.
  const others = node.patternProperties ? undefined : node.additionalProperties;
  if (!node.properties && !others) return value;
  const entries = Object.entries(value);
  if (!run.spend(entries.length * STEPS_PER_KEY)) return value;
  const repaired: [string, unknown][] = [];
  let isSame = true;
  for (const [key, item] of entries) {
    if (run.isOver) return value;
    const one = node.properties?.get(key) ?? others;
    const at = { parent: path, key };
    if (one && item === null && mayBeLeftOut(node, key) && !accepts(one, null, run)) {
      note(run, at);
      isSame = false;
      continue;
    }
    const next = one ? repairArgs(one, item, at, run) : item;
    isSame &&= next === item;
    repaired.push([key, next]);
  }
  return isSame ? value : Object.fromEntries(repaired);
}

/** A number as JSON writes it; nothing that merely converts (`""`, `0x10`, `1e999`). */
const NUMBER_TEXT = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/;

const JSON_LIMITS = { maxDepth: LIMITS.jsonDepth, maxNodes: LIMITS.jsonNodes };

/** True of a text that is meant as a list or an object, be it whole or not. */
const looksLikeJson = (text: string): boolean => /^\s*[[{]/.test(text);

/** The boolean or number that a text spells, of the types that are open; the text itself where it spells none. */
function readScalarText(text: string, types: ReadonlySet<TypeWord>): unknown {
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  if (!types.has('integer') || text.length > 40 || !NUMBER_TEXT.test(text)) return text;
  const number = Number(text);
  // Beyond 2^53 the number would not be the one that was written; 1e999 is none at all.
  const faithful = Number.isInteger(number)
    ? Number.isSafeInteger(number)
    : Number.isFinite(number) && types.has('number');
  return faithful ? number : text;
}

/** The list or object that a text is, whole, as JSON; the text itself where it is none. */
export function readJsonText(text: string): unknown {
  if (!looksLikeJson(text)) return text;
  const parsed = parseJson(text, JSON_LIMITS);
  return parsed.ok && (Array.isArray(parsed.value) || isRecord(parsed.value)) ? parsed.value : text;
}
