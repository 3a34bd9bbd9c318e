import { isRecord } from '../json/is-record.ts';
import { type CheckRun, enter, leave, type Path, pathText, spend } from './check-run.ts';
import { isOfType } from './check-scalar.ts';
import { accepts } from './evaluate.ts';
import { openTypes } from './open-types.ts';
import { looksLikeJson, readJsonText, readScalarText } from './read-text.ts';
import type { SchemaNode, TypeWord } from './schema-node.ts';

/** One attempt to repair arguments: what it may cost, and the paths that it has changed. */
export interface Repair {
  readonly run: CheckRun;
  readonly repairs: string[];
}

/** Parsing and its checks go over a text more than once. */
const CHARS_PER_STEP = 4;

/**
 * Repairs slips that models make often (rules SC11 to SC14, SC26 to SC30): a text
 * in place of the boolean, number, list or object that it spells, a lone value in
 * place of a list of one, and null in place of nothing. Only where the schema at that very place refuses the
 * value for its type. Copies what it changes; adds the paths to `repairs`.
 */
export function repairArgs(
  node: SchemaNode,
  value: unknown,
  path: Path | null,
  repair: Repair,
): unknown {
  const { run } = repair;
  const repaired = enter(run) ? repairHere(node, value, path, repair) : value;
  leave(run);
  return repaired;
}

function repairHere(node: SchemaNode, value: unknown, path: Path | null, repair: Repair): unknown {
  const types = openTypes(node);
  const read = typeof value === 'string' && types ? readText(value, types, repair.run) : value;
  if (types && isLone(read, types)) return repairLone(node, value, read, path, repair);
  if (read !== value) repair.repairs.push(pathText(path));
  if (typeof read !== 'object' || read === null) return read;
  const own = Array.isArray(read)
    ? repairItems(node, read, path, repair)
    : isRecord(read)
      ? repairEntries(node, read, path, repair)
      : read;
  return repairInPlace(node, own, path, repair);
}

/** What the text spells, where the schema takes no text and has that type open. */
function readText(text: string, types: ReadonlySet<TypeWord>, run: CheckRun): unknown {
  if (types.has('string')) return text;
  const scalar = readScalarText(text, types);
  if (scalar !== text || !(types.has('array') || types.has('object'))) return scalar;
  if (!spend(run, text.length / CHARS_PER_STEP)) return text;
  const json = readJsonText(text);
  // A lone object is a list's item, which is looked at next.
  return Array.isArray(json) && !types.has('array') ? text : json;
}

/** Whether a list is wanted, and this is no value that the types have open. */
function isLone(value: unknown, types: ReadonlySet<TypeWord>): boolean {
  if (!types.has('array') || value === null) return false;
  // Half of a list, and text without any, are not the one item of another.
  if (typeof value === 'string' && (value.trim() === '' || looksLikeJson(value))) return false;
  return ![...types].some((type) => isOfType(value, type));
}

/** A list of one, if the schema then accepts it; else the value as it was, which is what the model reads about. */
function repairLone(
  node: SchemaNode,
  value: unknown,
  read: unknown,
  path: Path | null,
  { run, repairs }: Repair,
): unknown {
  const tried: Repair = { run, repairs: [] };
  const list = repairArgs(node, [read], path, tried);
  if (!accepts(node, list, run)) return value;
  repairs.push(pathText(path), ...tried.repairs);
  return list;
}

/** By the other schemas that hold for the same value. */
function repairInPlace(
  node: SchemaNode,
  value: unknown,
  path: Path | null,
  repair: Repair,
): unknown {
  let repaired = value;
  if (node.ref) repaired = repairArgs(node.ref, repaired, path, repair);
  for (const one of node.allOf ?? []) repaired = repairArgs(one, repaired, path, repair);
  for (const branches of [node.anyOf, node.oneOf]) {
    if (branches) repaired = repairByBranch(branches, repaired, path, repair);
  }
  return repaired;
}

/** The first branch that accepts the value once it is repaired; none where one accepts it as it is. */
function repairByBranch(
  branches: readonly SchemaNode[],
  value: unknown,
  path: Path | null,
  { run, repairs }: Repair,
): unknown {
  if (branches.some((one) => accepts(one, value, run))) return value;
  for (const one of branches) {
    const tried: Repair = { run, repairs: [] };
    const repaired = repairArgs(one, value, path, tried);
    if (repaired === value || !accepts(one, repaired, run)) continue;
    repairs.push(...tried.repairs);
    return repaired;
  }
  return value;
}

function repairItems(
  node: SchemaNode,
  value: readonly unknown[],
  path: Path | null,
  repair: Repair,
): readonly unknown[] {
  let changed = false;
  const repaired = value.map((item, key) => {
    const one = node.prefixItems?.[key] ?? node.items;
    const next = one ? repairArgs(one, item, { parent: path, key }, repair) : item;
    changed ||= next !== item;
    return next;
  });
  return changed ? repaired : value;
}

const mayBeLeftOut = ({ properties, required }: SchemaNode, key: string): boolean =>
  properties?.has(key) === true && required?.includes(key) !== true;

function repairEntries(
  node: SchemaNode,
  value: Record<string, unknown>,
  path: Path | null,
  repair: Repair,
): Record<string, unknown> {
  let repaired = value;
  for (const [key, item] of Object.entries(value)) {
    // Which schema holds for a key that a pattern may name too is not plain.
    const one =
      node.properties?.get(key) ?? (node.patternProperties ? undefined : node.additionalProperties);
    if (!one) continue;
    if (item === null && mayBeLeftOut(node, key) && !accepts(one, null, repair.run)) {
      const { [key]: _, ...rest } = repaired;
      repaired = rest;
      repair.repairs.push(pathText({ parent: path, key }));
      continue;
    }
    const next = repairArgs(one, item, { parent: path, key }, repair);
    if (next === item) continue;
    if (repaired === value) repaired = { ...value };
    repaired[key] = next;
  }
  return repaired;
}
