import {
  type CheckRun,
  fail,
  isDone,
  isExhausted,
  type Path,
  type Seen,
  spend,
} from './check-run.ts';
import { testPattern } from './check-scalar.ts';
import { shorten } from './describe-value.ts';
import type { Evaluate } from './evaluate-type.ts';
import type { SchemaNode } from './schema-node.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Keywords about objects. */
export function checkObject(
  node: SchemaNode,
  value: JsonObject,
  path: Path | null,
  run: CheckRun,
  seen: Seen | undefined,
  evaluate: Evaluate,
): boolean {
  let passed = checkPresence(node, value, path, run);
  if (
    !node.properties &&
    !node.patternProperties &&
    !node.additionalProperties &&
    !node.propertyNames
  ) {
    return checkDependents(node, value, path, run, seen, evaluate) && passed;
  }
  for (const key of Object.keys(value)) {
    if (!spend(run, 1) || (!passed && isDone(run))) return false;
    const below: Path = { parent: path, key };
    passed = checkProperty(node, key, value[key], below, run, seen, evaluate) && passed;
  }
  return checkDependents(node, value, path, run, seen, evaluate) && passed;
}

function checkProperty(
  node: SchemaNode,
  key: string,
  value: unknown,
  path: Path,
  run: CheckRun,
  seen: Seen | undefined,
  evaluate: Evaluate,
): boolean {
  let passed = true;
  let matched = false;
  if (node.propertyNames) {
    run.quiet += 1;
    const allowed = evaluate(node.propertyNames, key, path, run, undefined);
    run.quiet -= 1;
    if (!allowed) passed = fail(run, path, 'has a name that is not allowed');
  }
  const own = node.properties?.get(key);
  if (own) {
    matched = true;
    passed = evaluate(own, value, path, run, undefined) && passed;
  }
  for (const { pattern, node: one } of node.patternProperties ?? []) {
    if (!testPattern(pattern, key, run)) continue;
    matched = true;
    passed = evaluate(one, value, path, run, undefined) && passed;
  }
  if (!matched && node.additionalProperties) {
    matched = true;
    passed = checkAdditional(node, node.additionalProperties, value, path, run, evaluate) && passed;
  }
  if (matched) seen?.keys.add(key);
  return passed;
}

function checkAdditional(
  node: SchemaNode,
  rule: SchemaNode,
  value: unknown,
  path: Path,
  run: CheckRun,
  evaluate: Evaluate,
): boolean {
  if (rule.always !== false) return evaluate(rule, value, path, run, undefined);
  const known = [...(node.properties?.keys() ?? [])].slice(0, 20).map(shorten).join(', ');
  return fail(run, path, known ? `is not known; known are ${known}` : 'is not known');
}

/** `required`, `dependentRequired`, `minProperties`, `maxProperties` */
function checkPresence(node: SchemaNode, value: JsonObject, path: Path | null, run: CheckRun) {
  let passed = true;
  const demand = (names: readonly string[]) => {
    for (const key of names) {
      if (!spend(run, 1) || (!passed && isDone(run))) return;
      if (!Object.hasOwn(value, key)) passed = fail(run, { parent: path, key }, 'is required');
    }
  };
  demand(node.required ?? []);
  for (const [key, names] of node.dependentRequired ?? [])
    if (Object.hasOwn(value, key)) demand(names);
  if (node.minProperties === undefined && node.maxProperties === undefined) return passed;
  const count = Object.keys(value).length;
  spend(run, count);
  if (count < (node.minProperties ?? 0)) {
    passed = fail(run, path, `must have at least ${node.minProperties} properties, had ${count}`);
  }
  if (count > (node.maxProperties ?? Infinity)) {
    passed = fail(run, path, `must have at most ${node.maxProperties} properties, had ${count}`);
  }
  return passed;
}

function checkDependents(
  node: SchemaNode,
  value: JsonObject,
  path: Path | null,
  run: CheckRun,
  seen: Seen | undefined,
  evaluate: Evaluate,
): boolean {
  let passed = true;
  for (const [key, one] of node.dependentSchemas ?? []) {
    if (Object.hasOwn(value, key)) passed = evaluate(one, value, path, run, seen) && passed;
  }
  return passed && !isExhausted(run);
}
