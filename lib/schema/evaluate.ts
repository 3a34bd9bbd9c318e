import { isRecord } from '../json/is-record.ts';
import { checkArray } from './check-array.ts';
import { checkCombined } from './check-combined.ts';
import { checkObject } from './check-object.ts';
import { createSeen, enter, fail, isDone, isExhausted, leave } from './check-run.ts';
import { checkAllowed, checkNumber, checkText, checkType } from './check-scalar.ts';
import { checkUnevaluated } from './check-unevaluated.ts';
import type { Evaluate } from './evaluate-type.ts';

/**
 * An interpreter of JSON Schema (2020-12, and the older spellings that
 * generators still write) whose work is counted: whatever schema and arguments,
 * it ends within its budget. It has failed, not passed, when the budget is used up.
 */
export const evaluate: Evaluate = (node, value, path, run, seen) => {
  if (node.always !== undefined) return node.always || fail(run, path, 'is not allowed');
  if (!enter(run)) return false;
  const passed = evaluateEntered(node, value, path, run, seen);
  leave(run);
  return passed && !isExhausted(run);
};

const evaluateEntered: Evaluate = (node, value, path, run, seen) => {
  // Everything else about a value of the wrong type would be noise.
  if (!checkType(node, value, path, run)) return false;
  const looksBack = node.unevaluatedProperties ?? node.unevaluatedItems;
  const own = looksBack ? createSeen() : seen;
  let passed = checkAllowed(node, value, path, run);
  if (!passed && isDone(run)) return false;
  if (typeof value === 'string') passed = checkText(node, value, path, run) && passed;
  else if (typeof value === 'number') passed = checkNumber(node, value, path, run) && passed;
  else if (Array.isArray(value))
    passed = checkArray(node, value, path, run, own, evaluate) && passed;
  else if (isRecord(value)) passed = checkObject(node, value, path, run, own, evaluate) && passed;
  if (!passed && isDone(run)) return false;
  passed = checkCombined(node, value, path, run, own, evaluate) && passed;
  if (!looksBack || !own) return passed;
  passed = checkUnevaluated(node, value, path, run, own, evaluate) && passed;
  for (const key of own.keys) seen?.keys.add(key);
  for (const item of own.items) seen?.items.add(item);
  return passed;
};
