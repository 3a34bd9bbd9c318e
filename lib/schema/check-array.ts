import { canonicalJson } from '../json/canonical-json.ts';
import {
  type CheckRun,
  fail,
  isDone,
  isExhausted,
  type Path,
  type Seen,
  spend,
} from './check-run.ts';
import type { Evaluate } from './evaluate-type.ts';
import type { SchemaNode } from './schema-node.ts';

/** Keywords about lists. */
export function checkArray(
  node: SchemaNode,
  value: readonly unknown[],
  path: Path | null,
  run: CheckRun,
  seen: Seen | undefined,
  evaluate: Evaluate,
): boolean {
  let passed = checkLength(node, value, path, run);
  const first = node.prefixItems ?? [];
  for (let i = 0; i < value.length; i += 1) {
    const one = first[i] ?? node.items;
    if (!one) break;
    if (!spend(run, 1) || (!passed && isDone(run))) return false;
    passed = evaluate(one, value[i], { parent: path, key: i }, run, undefined) && passed;
    seen?.items.add(i);
  }
  if (node.contains)
    passed = checkContains(node, node.contains, value, path, run, seen, evaluate) && passed;
  if (node.uniqueItems) passed = checkUnique(value, path, run) && passed;
  return passed && !isExhausted(run);
}

function checkLength(
  node: SchemaNode,
  value: readonly unknown[],
  path: Path | null,
  run: CheckRun,
) {
  if (value.length < (node.minItems ?? 0)) {
    return fail(run, path, `must have at least ${node.minItems} items, had ${value.length}`);
  }
  if (value.length > (node.maxItems ?? Infinity)) {
    return fail(run, path, `must have at most ${node.maxItems} items, had ${value.length}`);
  }
  return true;
}

function checkContains(
  node: SchemaNode,
  wanted: SchemaNode,
  value: readonly unknown[],
  path: Path | null,
  run: CheckRun,
  seen: Seen | undefined,
  evaluate: Evaluate,
): boolean {
  let count = 0;
  run.quiet += 1;
  for (const [i, item] of value.entries()) {
    if (isExhausted(run)) break;
    if (!evaluate(wanted, item, null, run, undefined)) continue;
    count += 1;
    seen?.items.add(i);
  }
  run.quiet -= 1;
  if (count < (node.minContains ?? 1)) {
    return fail(
      run,
      path,
      `must contain at least ${node.minContains ?? 1} items of the wanted form`,
    );
  }
  if (count > (node.maxContains ?? Infinity)) {
    return fail(run, path, `must contain at most ${node.maxContains} items of the wanted form`);
  }
  return true;
}

/** By canonical text, not by pairs: pairs of a long list are a way to hold the server. */
function checkUnique(value: readonly unknown[], path: Path | null, run: CheckRun): boolean {
  const known = new Set<string>();
  for (const [i, item] of value.entries()) {
    const key = canonicalJson(item);
    if (!spend(run, 1 + key.length / 4)) return false;
    if (known.has(key))
      return fail(run, { parent: path, key: i }, 'repeats an item; all must differ');
    known.add(key);
  }
  return true;
}
