import {
  type CheckRun,
  createSeen,
  fail,
  isDone,
  isExhausted,
  type Path,
  type Seen,
} from './check-run.ts';
import { isOfType } from './check-scalar.ts';
import { describeValue } from './describe-value.ts';
import type { Evaluate } from './evaluate-type.ts';
import type { SchemaNode } from './schema-node.ts';

/** Keywords that judge the same value by further schemas. */
export function checkCombined(
  node: SchemaNode,
  value: unknown,
  path: Path | null,
  run: CheckRun,
  seen: Seen | undefined,
  evaluate: Evaluate,
): boolean {
  let passed = true;
  const also = [...(node.ref ? [node.ref] : []), ...(node.allOf ?? [])];
  for (const one of also) {
    passed = evaluate(one, value, path, run, seen) && passed;
    if (!passed && isDone(run)) return false;
  }
  const attempt = (one: SchemaNode) => tryOut(one, value, path, run, seen, evaluate);
  if (node.anyOf) passed = checkAny(node.anyOf, value, path, run, seen, evaluate) && passed;
  if (node.oneOf) {
    const matches = countMatches(node.oneOf, attempt);
    if (matches === 0) passed = tellBranches(node.oneOf, value, path, run, evaluate);
    else if (matches > 1)
      passed = fail(run, path, 'must match exactly one of the allowed forms, matched several');
  }
  if (node.not && attempt(node.not)) passed = fail(run, path, 'has a form that is not allowed');
  if (node.if) {
    const branch = attempt(node.if) ? node.then : node.else;
    if (branch) passed = evaluate(branch, value, path, run, seen) && passed;
  }
  return passed && !isExhausted(run);
}

/** Whether the schema accepts the value, telling nobody why not. What it has seen counts only if so. */
function tryOut(
  node: SchemaNode,
  value: unknown,
  path: Path | null,
  run: CheckRun,
  seen: Seen | undefined,
  evaluate: Evaluate,
): boolean {
  const own = seen ? createSeen() : undefined;
  run.quiet += 1;
  const passed = evaluate(node, value, path, run, own);
  run.quiet -= 1;
  if (passed && seen && own) {
    for (const key of own.keys) seen.keys.add(key);
    for (const item of own.items) seen.items.add(item);
  }
  return passed;
}

function checkAny(
  branches: readonly SchemaNode[],
  value: unknown,
  path: Path | null,
  run: CheckRun,
  seen: Seen | undefined,
  evaluate: Evaluate,
): boolean {
  let passed = false;
  for (const branch of branches) {
    if (isExhausted(run)) return false;
    if (tryOut(branch, value, path, run, seen, evaluate)) passed = true;
    // Only who looks back at what was seen needs the other branches too.
    if (passed && !seen) return true;
  }
  return passed || tellBranches(branches, value, path, run, evaluate);
}

function countMatches(
  branches: readonly SchemaNode[],
  attempt: (node: SchemaNode) => boolean,
): number {
  let matches = 0;
  for (const branch of branches) {
    if (attempt(branch)) matches += 1;
    if (matches > 1) break;
  }
  return matches;
}

/** No branch fits: tells the types when none has the value's, or the problems of the only one that has it. */
function tellBranches(
  branches: readonly SchemaNode[],
  value: unknown,
  path: Path | null,
  run: CheckRun,
  evaluate: Evaluate,
): false {
  if (isDone(run)) return false;
  const near = branches.filter(
    (one) => !one.types || one.types.some((type) => isOfType(value, type)),
  );
  if (near.length === 0) {
    const words = new Set(branches.flatMap((one) => one.types ?? []));
    return fail(run, path, `must be ${[...words].join(' or ')}, was ${describeValue(value)}`);
  }
  const [only] = near;
  if (near.length === 1 && only) {
    evaluate(only, value, path, run, undefined);
    return false;
  }
  return fail(run, path, `must match one of the allowed forms, was ${describeValue(value)}`);
}
