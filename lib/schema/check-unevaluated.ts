import { isRecord } from '../json/is-record.ts';
import { type CheckRun, type Path, type Seen, spend } from './check-run.ts';
import type { Evaluate } from './evaluate-type.ts';
import type { SchemaNode } from './schema-node.ts';

/** `unevaluatedProperties` and `unevaluatedItems`: what no other keyword of this schema has looked at. */
export function checkUnevaluated(
  node: SchemaNode,
  value: unknown,
  path: Path | null,
  run: CheckRun,
  seen: Seen,
  evaluate: Evaluate,
): boolean {
  let passed = true;
  if (Array.isArray(value) && node.unevaluatedItems) {
    for (const [key, item] of value.entries()) {
      if (!spend(run, 1)) return false;
      if (seen.items.has(key)) continue;
      seen.items.add(key);
      passed =
        evaluate(node.unevaluatedItems, item, { parent: path, key }, run, undefined) && passed;
    }
  }
  if (isRecord(value) && node.unevaluatedProperties) {
    for (const [key, item] of Object.entries(value)) {
      if (!spend(run, 1)) return false;
      if (seen.keys.has(key)) continue;
      seen.keys.add(key);
      passed =
        evaluate(node.unevaluatedProperties, item, { parent: path, key }, run, undefined) && passed;
    }
  }
  return passed;
}
