import { isRecord } from '../json/is-record.ts';
import {
  type CheckRun,
  describeValue,
  enter,
  fail,
  isDone,
  isExhausted,
  leave,
  type Path,
  shorten,
  spend,
} from './check-run.ts';
import {
  checkAllowed,
  checkNumber,
  checkText,
  checkType,
  countedCanonical,
  isOfType,
  testPattern,
} from './check-scalar.ts';
import type { SchemaNode } from './schema-node.ts';

/**
 * An interpreter of the subset of JSON Schema in `read-schema.ts` whose work is
 * counted: whatever schema and arguments, it ends within its budget. A check
 * that has used up the budget has failed.
 */
export function evaluate(
  node: SchemaNode,
  value: unknown,
  path: Path | null,
  run: CheckRun,
): boolean {
  if (node.always !== undefined) return node.always || fail(run, path, 'is not allowed');
  if (!enter(run)) return false;
  // Everything else about a value of the wrong type would be noise.
  const passed = checkType(node, value, path, run) && checkKeywords(node, value, path, run);
  leave(run);
  return passed && !isExhausted(run);
}

function checkKeywords(node: SchemaNode, value: unknown, path: Path | null, run: CheckRun) {
  let passed = checkAllowed(node, value, path, run);
  if (!passed && isDone(run)) return false;
  if (typeof value === 'string') passed = checkText(node, value, path, run) && passed;
  else if (typeof value === 'number') passed = checkNumber(node, value, path, run) && passed;
  else if (Array.isArray(value)) passed = checkArray(node, value, path, run) && passed;
  else if (isRecord(value)) passed = checkObject(node, value, path, run) && passed;
  if (!passed && isDone(run)) return false;
  return checkCombined(node, value, path, run) && passed;
}

function checkArray(
  node: SchemaNode,
  value: readonly unknown[],
  path: Path | null,
  run: CheckRun,
): boolean {
  let passed = checkCount(node.minItems, node.maxItems, value.length, 'items', path, run);
  for (const [key, item] of value.entries()) {
    const one = node.prefixItems?.[key] ?? node.items;
    if (!one) break;
    if (!spend(run, 1) || (!passed && isDone(run))) return false;
    passed = evaluate(one, item, { parent: path, key }, run) && passed;
  }
  if (node.contains) passed = checkContains(node, node.contains, value, path, run) && passed;
  return (!node.uniqueItems || checkUnique(value, path, run)) && passed;
}

function checkContains(
  { minContains = 1, maxContains = Infinity }: SchemaNode,
  wanted: SchemaNode,
  value: readonly unknown[],
  path: Path | null,
  run: CheckRun,
): boolean {
  let count = 0;
  for (const item of value) {
    if (!spend(run, 1)) return false;
    if (accepts(wanted, item, run)) count += 1;
  }
  if (count >= minContains && count <= maxContains) return true;
  const bound = count < minContains ? `at least ${minContains}` : `at most ${maxContains}`;
  return fail(run, path, `must have ${bound} of the wanted items, had ${count}`);
}

/** By canonical text, not by pairs: pairs of a long list are a way to hold the server. */
function checkUnique(value: readonly unknown[], path: Path | null, run: CheckRun): boolean {
  const seen = new Set<string>();
  for (const [key, item] of value.entries()) {
    const text = countedCanonical(item, run);
    if (text === undefined) return false;
    if (seen.has(text)) {
      return fail(run, { parent: path, key }, 'repeats an item; all must differ');
    }
    seen.add(text);
  }
  return true;
}

function checkCount(
  min: number | undefined,
  max: number | undefined,
  count: number,
  what: 'items' | 'properties',
  path: Path | null,
  run: CheckRun,
): boolean {
  if (count < (min ?? 0)) return fail(run, path, `must have at least ${min} ${what}, had ${count}`);
  if (count <= (max ?? Infinity)) return true;
  return fail(run, path, `must have at most ${max} ${what}, had ${count}`);
}

function checkObject(
  node: SchemaNode,
  value: Readonly<Record<string, unknown>>,
  path: Path | null,
  run: CheckRun,
): boolean {
  const { required = NONE, dependentRequired, minProperties, maxProperties } = node;
  let passed = checkRequired(required, value, '', path, run);
  if (!passed && isDone(run)) return false;
  if (dependentRequired) passed = checkDependent(dependentRequired, value, path, run) && passed;
  const rules =
    node.properties ?? node.patternProperties ?? node.additionalProperties ?? node.propertyNames;
  if (!rules && minProperties === undefined && maxProperties === undefined) return passed;
  const keys = Object.keys(value);
  if (!spend(run, keys.length)) return false;
  passed = checkCount(minProperties, maxProperties, keys.length, 'properties', path, run) && passed;
  if (!rules) return passed;
  for (const key of keys) {
    if (!passed && isDone(run)) return false;
    passed = checkProperty(node, key, value[key], { parent: path, key }, run) && passed;
  }
  return passed;
}

const NONE: readonly string[] = [];
const NO_SCHEMAS: readonly SchemaNode[] = [];

/** Says in the problem that they are required; `beside` comes behind that. */
function checkRequired(
  names: readonly string[],
  value: Readonly<Record<string, unknown>>,
  beside: string,
  path: Path | null,
  run: CheckRun,
): boolean {
  let passed = true;
  for (const key of names) {
    if (!spend(run, 1) || (!passed && isDone(run))) return false;
    if (!Object.hasOwn(value, key)) {
      passed = fail(run, { parent: path, key }, `is required${beside}`);
    }
  }
  return passed;
}

function checkDependent(
  names: ReadonlyMap<string, readonly string[]>,
  value: Readonly<Record<string, unknown>>,
  path: Path | null,
  run: CheckRun,
): boolean {
  let passed = true;
  for (const [name, others] of names) {
    if (!spend(run, 1) || (!passed && isDone(run))) return false;
    if (!Object.hasOwn(value, name)) continue;
    passed = checkRequired(others, value, ` beside "${shorten(name)}"`, path, run) && passed;
  }
  return passed;
}

function checkProperty(
  node: SchemaNode,
  key: string,
  value: unknown,
  path: Path,
  run: CheckRun,
): boolean {
  let passed = true;
  if (node.propertyNames && !accepts(node.propertyNames, key, run)) {
    passed = fail(run, path, 'has a name that is not allowed');
  }
  const own = node.properties?.get(key);
  if (own) passed = evaluate(own, value, path, run) && passed;
  let isNamed = own !== undefined;
  for (const { pattern, node: one } of node.patternProperties ?? []) {
    if (!testPattern(pattern, key, run)) continue;
    isNamed = true;
    passed = evaluate(one, value, path, run) && passed;
  }
  if (isNamed || !node.additionalProperties) return passed;
  return checkAdditional(node, node.additionalProperties, value, path, run) && passed;
}

function checkAdditional(
  node: SchemaNode,
  rule: SchemaNode,
  value: unknown,
  path: Path,
  run: CheckRun,
): boolean {
  if (rule.always !== false) return evaluate(rule, value, path, run);
  // There may be thousands of names, for each of as many items.
  if (isDone(run)) return false;
  const known = [...(node.properties?.keys() ?? [])].slice(0, 20).map(shorten).join(', ');
  return fail(run, path, known ? `is not known; known are ${known}` : 'is not known');
}

/** Keywords that check the same value by further schemas. */
function checkCombined(
  node: SchemaNode,
  value: unknown,
  path: Path | null,
  run: CheckRun,
): boolean {
  const { ref, allOf = [] } = node;
  let passed = evaluateAll(ref ? [ref, ...allOf] : allOf, value, path, run);
  if (!passed && isDone(run)) return false;
  if (node.anyOf && !node.anyOf.some((one) => accepts(one, value, run))) {
    passed = explainBranches(node.anyOf, value, path, run);
  }
  if (node.oneOf) passed = checkOneOf(node.oneOf, value, path, run) && passed;
  passed = evaluateAll(conditional(node, value, run), value, path, run) && passed;
  if (!passed && isDone(run)) return false;
  if (node.not && accepts(node.not, value, run)) {
    passed = fail(run, path, 'has a form that is not allowed');
  }
  return passed;
}

function evaluateAll(
  nodes: readonly SchemaNode[],
  value: unknown,
  path: Path | null,
  run: CheckRun,
): boolean {
  let passed = true;
  for (const one of nodes) {
    passed = evaluate(one, value, path, run) && passed;
    if (!passed && isDone(run)) return false;
  }
  return passed;
}

function checkOneOf(
  branches: readonly SchemaNode[],
  value: unknown,
  path: Path | null,
  run: CheckRun,
): boolean {
  const matches = countMatches(branches, value, run);
  if (matches === 0) return explainBranches(branches, value, path, run);
  if (matches === 1) return true;
  return fail(run, path, 'must match exactly one of the allowed forms, matched several');
}

/** The schemas that hold for this value by what it is: one of `then` and `else`, and those of `dependentSchemas`. */
export function conditional(
  node: SchemaNode,
  value: unknown,
  run: CheckRun,
): readonly SchemaNode[] {
  const { whenMet, whenNot, dependentSchemas } = node;
  if (!whenMet && !whenNot && !dependentSchemas) return NO_SCHEMAS;
  const found: (SchemaNode | undefined)[] = [];
  if (whenMet ?? whenNot) {
    const isMet = node.condition !== undefined && accepts(node.condition, value, run);
    found.push(isMet ? whenMet : whenNot);
  }
  if (dependentSchemas && isRecord(value) && spend(run, dependentSchemas.size)) {
    for (const [name, one] of dependentSchemas) if (Object.hasOwn(value, name)) found.push(one);
  }
  return found.filter((one) => one !== undefined);
}

/** Tries the schema without recording problems. False once the budget is used up. */
export function accepts(node: SchemaNode, value: unknown, run: CheckRun): boolean {
  if (isExhausted(run)) return false;
  run.quiet += 1;
  const passed = evaluate(node, value, null, run);
  run.quiet -= 1;
  return passed;
}

/** How many of the schemas accept the value; 2 means more. */
function countMatches(branches: readonly SchemaNode[], value: unknown, run: CheckRun): number {
  let matches = 0;
  for (const one of branches) {
    if (accepts(one, value, run)) matches += 1;
    if (matches > 1) break;
  }
  return matches;
}

/** No branch accepts the value: it names the types when none has the value's, or the problems of the only one that has it. */
function explainBranches(
  branches: readonly SchemaNode[],
  value: unknown,
  path: Path | null,
  run: CheckRun,
): false {
  if (isDone(run)) return false;
  const near = branches.filter(
    (one) => !one.types || one.types.some((type) => isOfType(value, type)),
  );
  const [only] = near;
  if (!only) {
    const words = new Set(branches.flatMap((one) => one.types ?? []));
    return fail(run, path, `must be ${[...words].join(' or ')}`, describeValue(value));
  }
  if (near.length > 1) {
    return fail(run, path, `must match one of the allowed forms`, describeValue(value));
  }
  evaluate(only, value, path, run);
  return false;
}
