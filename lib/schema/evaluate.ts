import { isRecord } from '../json/is-record.ts';
import { type CheckRun, describeValue, type Path, shorten } from './check-run.ts';
import {
  BOUNDS,
  checkAllowed,
  checkCount,
  checkNumber,
  checkText,
  countedCanonical,
  isOfType,
  testPattern,
} from './check-scalar.ts';
import type { Rule, SchemaNode } from './schema-node.ts';

/**
 * An interpreter of the subset of JSON Schema in `read-schema.ts` whose work is
 * counted: whatever schema and arguments, it ends within its budget. A check
 * that has used up the budget has failed. The problems are those of the run.
 */
export function evaluate(node: SchemaNode, value: unknown, run: CheckRun): boolean {
  check(node, value, null, run);
  return run.problems.length === 0 && !run.isOver;
}

/** Tries the schema without recording problems. False once the budget is used up. */
export function accepts(node: SchemaNode, value: unknown, run: CheckRun): boolean {
  if (!run.beginAttempt()) return false;
  check(node, value, null, run);
  return run.endAttempt();
}

const check: Rule = (node, value, path, run) => {
  if (node.always === true) return;
  if (node.always === false) return run.fail(path, () => 'is not allowed');
  if (!run.enter()) return;
  const { types } = node;
  // Everything else about a value of the wrong type would be noise.
  if (types && !types.some((type) => isOfType(value, type))) {
    const was = () => describeValue(value);
    run.fail(path, () => `must be ${types.join(' or ')}`, was);
  } else {
    node.rules ??= RULES.flatMap(([rule, ...fields]) =>
      fields.some((field) => node[field] !== undefined) ? rule : [],
    );
    for (const rule of node.rules) if (!run.isOver) rule(node, value, path, run);
  }
  run.leave();
};

const NONE: readonly never[] = [];

const checkArray: Rule = (node, value, path, run) => {
  if (!Array.isArray(value)) return;
  const { minItems: min, maxItems: max, items, prefixItems, contains } = node;
  checkCount({ count: value.length, min, max, of: 'items' }, path, run);
  for (const [key, item] of value.entries()) {
    const one = prefixItems?.[key] ?? items;
    if (!one) break;
    if (run.isOver || !run.spend(1)) return;
    check(one, item, { parent: path, key }, run);
  }
  if (contains) checkContains(node, contains, value, path, run);
  if (node.uniqueItems) checkUnique(value, path, run);
};

function checkContains(
  { minContains: min = 1, maxContains: max }: SchemaNode,
  wanted: SchemaNode,
  value: readonly unknown[],
  path: Path | null,
  run: CheckRun,
): void {
  let count = 0;
  for (const item of value) {
    if (run.isOver || !run.spend(1)) return;
    if (accepts(wanted, item, run)) count += 1;
  }
  checkCount({ count, min, max, of: 'of the wanted items' }, path, run);
}

/** By canonical text, not by pairs: pairs of a long list are a way to hold the server. */
function checkUnique(value: readonly unknown[], path: Path | null, run: CheckRun): void {
  const seen = new Set<string>();
  for (const [key, item] of value.entries()) {
    const text = run.isOver ? undefined : countedCanonical(item, run);
    if (text === undefined) return;
    if (seen.has(text)) {
      return run.fail({ parent: path, key }, () => 'repeats an item; all must differ');
    }
    seen.add(text);
  }
}

/** `required` and `dependentRequired` */
const checkNames: Rule = ({ required = NONE, dependentRequired = NONE }, value, path, run) => {
  if (!isRecord(value)) return;
  checkRequired(required, value, '', path, run);
  for (const [name, others] of dependentRequired) {
    if (run.isOver || !run.spend(1)) return;
    if (!Object.hasOwn(value, name)) continue;
    checkRequired(others, value, ` beside "${shorten(name)}"`, path, run);
  }
};

const checkPropertyCount: Rule = ({ minProperties: min, maxProperties: max }, value, path, run) => {
  if (!isRecord(value)) return;
  const count = Object.keys(value).length;
  if (run.spend(count)) checkCount({ count, min, max, of: 'properties' }, path, run);
};

const checkProperties: Rule = (node, value, path, run) => {
  if (!isRecord(value)) return;
  const keys = Object.keys(value);
  if (!run.spend(keys.length)) return;
  for (const key of keys) {
    if (run.isOver) return;
    checkProperty(node, key, value[key], { parent: path, key }, run);
  }
};

/** Says in the problem that they are required; `beside` comes behind that. */
function checkRequired(
  names: readonly string[],
  value: Readonly<Record<string, unknown>>,
  beside: string,
  path: Path | null,
  run: CheckRun,
): void {
  for (const key of names) {
    if (run.isOver || !run.spend(1)) return;
    if (!Object.hasOwn(value, key)) run.fail({ parent: path, key }, () => `is required${beside}`);
  }
}

function checkProperty(
  node: SchemaNode,
  key: string,
  value: unknown,
  path: Path,
  run: CheckRun,
): void {
  if (node.propertyNames && !accepts(node.propertyNames, key, run)) {
    run.fail(path, () => 'has a name that is not allowed');
  }
  const own = node.properties?.get(key);
  if (own) check(own, value, path, run);
  let isNamed = own !== undefined;
  for (const { pattern, node: one } of node.patternProperties ?? NONE) {
    if (run.isOver || !testPattern(pattern, key, run)) continue;
    isNamed = true;
    check(one, value, path, run);
  }
  const rest = isNamed ? undefined : node.additionalProperties;
  // There may be thousands of names, for each of as many items: they are listed for a problem alone.
  if (rest?.always === false) return run.fail(path, () => notKnown(node));
  if (rest) check(rest, value, path, run);
}

function notKnown({ properties }: SchemaNode): string {
  const known = [...(properties?.keys() ?? NONE)].slice(0, 20).map(shorten).join(', ');
  return known ? `is not known; known are ${known}` : 'is not known';
}

/** Keywords that check the same value by further schemas. */
const checkCombined: Rule = (node, value, path, run) => {
  const { ref, allOf = NONE, anyOf, oneOf, not } = node;
  if (ref) check(ref, value, path, run);
  for (const one of allOf) check(one, value, path, run);
  if (anyOf && !anyOf.some((one) => accepts(one, value, run))) {
    explainBranches(anyOf, value, path, run);
  }
  if (oneOf) checkOneOf(oneOf, value, path, run);
  for (const one of conditional(node, value, run)) check(one, value, path, run);
  if (not && accepts(not, value, run)) run.fail(path, () => 'has a form that is not allowed');
};

/** Each with the fields of a node for which it is there, in the order in which they are tried until the run is over. */
const RULES: readonly (readonly [Rule, ...(keyof SchemaNode)[]])[] = [
  [checkAllowed, 'allowed'],
  [checkText, 'minLength', 'maxLength', 'pattern', 'format'],
  [checkNumber, ...BOUNDS.map(([keyword]) => keyword)],
  [checkArray, 'items', 'prefixItems', 'minItems', 'maxItems', 'contains', 'uniqueItems'],
  [checkNames, 'required', 'dependentRequired'],
  [checkPropertyCount, 'minProperties', 'maxProperties'],
  [checkProperties, 'properties', 'patternProperties', 'additionalProperties', 'propertyNames'],
  [
    checkCombined,
    'ref',
    'allOf',
    'anyOf',
    'oneOf',
    'not',
    'whenMet',
    'whenNot',
    'dependentSchemas',
  ],
];

function checkOneOf(
  branches: readonly SchemaNode[],
  value: unknown,
  path: Path | null,
  run: CheckRun,
): void {
  let matches = 0;
  for (const one of branches) {
    if (accepts(one, value, run)) matches += 1;
    if (matches <= 1) continue;
    return run.fail(path, () => 'must match exactly one of the allowed forms, matched several');
  }
  if (matches === 0) explainBranches(branches, value, path, run);
}

/** The schemas that hold for this value by what it is: one of `then` and `else`, and those of `dependentSchemas`. */
export function conditional(
  { condition, whenMet, whenNot, dependentSchemas }: SchemaNode,
  value: unknown,
  run: CheckRun,
): readonly SchemaNode[] {
  if (!whenMet && !whenNot && !dependentSchemas) return NONE;
  const found: (SchemaNode | undefined)[] = [];
  if (whenMet ?? whenNot) {
    const isMet = condition !== undefined && accepts(condition, value, run);
    found.push(isMet ? whenMet : whenNot);
  }
  if (dependentSchemas && isRecord(value) && run.spend(dependentSchemas.size)) {
    for (const [name, one] of dependentSchemas) if (Object.hasOwn(value, name)) found.push(one);
  }
  return found.filter((one) => one !== undefined);
}

/** No branch accepts the value: it names the types when none has the value's, or the problems of the only one that has it. */
function explainBranches(
  branches: readonly SchemaNode[],
  value: unknown,
  path: Path | null,
  run: CheckRun,
): void {
  const was = () => describeValue(value);
  if (run.isOver || run.isQuiet) return run.fail(path, was);
  const near = branches.filter(
    ({ types }) => !types || types.some((type) => isOfType(value, type)),
  );
  const [only] = near;
  if (only && near.length === 1) return check(only, value, path, run);
  const words = new Set(branches.flatMap((one) => one.types ?? NONE));
  const problem = only
    ? 'must match one of the allowed forms'
    : `must be ${[...words].join(' or ')}`;
  run.fail(path, () => problem, was);
}
