import type { ErrorDetail } from '../protocol/http-error.ts';
import { withEllipsis } from '../text/with-ellipsis.ts';

/** Steps one check may take, its repair included; measured, they last some 40 ms at worst. Real calls need under 1,000. */
const MAX_STEPS = 500_000;
/** Schemas inside schemas for one value and its parts; keeps the stack small. */
const MAX_DEPTH = 500;
const MAX_PROBLEMS = 20;

/** A place in the arguments, which is written out only for a problem. */
export interface Path {
  readonly parent: Path | null;
  readonly key: string | number;
}

/** The state of one check: how much it may still cost and which problems it found. */
export interface CheckRun {
  stepsLeft: number;
  depth: number;
  /** It is above 0 while a schema is only tried; its problems are then not recorded. */
  quiet: number;
  readonly problems: ErrorDetail[];
  /** The schema marks secrets, so no problem quotes a value. */
  readonly isSecret: boolean;
}

export const createCheckRun = (isSecret = false, stepsLeft = MAX_STEPS): CheckRun => ({
  isSecret,
  stepsLeft,
  depth: 0,
  quiet: 0,
  problems: [],
});

/** Takes `steps` off the budget; false once there is none left, and the check is then void. */
export function spend(run: CheckRun, steps: number): boolean {
  run.stepsLeft -= steps;
  return run.stepsLeft > 0;
}

export const isExhausted = (run: CheckRun): boolean => run.stepsLeft <= 0;

/** Goes one schema deeper; false when that is too deep. Pair with `leave`. */
export function enter(run: CheckRun): boolean {
  run.depth += 1;
  if (run.depth > MAX_DEPTH) run.stepsLeft = 0;
  return spend(run, 1);
}

export function leave(run: CheckRun): void {
  run.depth -= 1;
}

/**
 * Records a problem unless the schema is only tried. `was` describes the value, if that helps. Always
 * false, for `return fail(…)`.
 */
export function fail(run: CheckRun, path: Path | null, problem: string, was?: string): false {
  if (run.quiet === 0 && run.problems.length < MAX_PROBLEMS) {
    const isQuoted = was !== undefined && !run.isSecret;
    run.problems.push({
      path: pathText(path),
      problem: isQuoted ? `${problem}, was ${was}` : problem,
    });
  }
  return false;
}

/** True when a further problem would not be recorded, so that the rest need not be checked. */
export const isDone = (run: CheckRun): boolean =>
  run.quiet > 0 || run.problems.length >= MAX_PROBLEMS || isExhausted(run);

/** Writes a place as `address.lines[0]`. */
export function pathText(path: Path | null): string {
  const parts: string[] = [];
  for (let at = path; at; at = at.parent) {
    if (typeof at.key === 'number') parts.push(`[${at.key}]`);
    else parts.push(at.parent ? `.${at.key}` : at.key);
  }
  return parts.reverse().join('');
}

const SHOWN_CHARS = 40;

/** Describes a value in about 60 characters at most, for "must be boolean, was …". */
export function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return `the text ${JSON.stringify(shorten(value))}`;
  if (typeof value === 'number') return `the number ${value}`;
  return String(value);
}

export const shorten = (text: string): string => withEllipsis(text, SHOWN_CHARS);
