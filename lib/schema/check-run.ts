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

/** One check, or one repair: how much it may still cost, and what it found. */
export class CheckRun {
  stepsLeft: number;
  readonly problems: ErrorDetail[] = [];
  /** The places that were repaired. */
  readonly repairs: string[] = [];
  /** Nothing more need be looked at: the steps are used up, a schema that is only tried has refused, or enough problems are known. */
  isOver = false;
  /** The schema marks secrets, so no problem quotes a value. */
  readonly #isSecret: boolean;
  #depth = 0;
  /** It is above 0 while a schema is only tried; its problems are then not recorded. */
  #quiet = 0;

  constructor(isSecret = false, stepsLeft = MAX_STEPS) {
    this.#isSecret = isSecret;
    this.stepsLeft = stepsLeft;
  }

  /** A further run with the steps that this one has left. */
  next(): CheckRun {
    return new CheckRun(this.#isSecret, this.stepsLeft);
  }

  get isExhausted(): boolean {
    return this.stepsLeft <= 0;
  }

  get isQuiet(): boolean {
    return this.#quiet > 0;
  }

  /** Takes `steps` off the budget; false once there is none left, and the check is then void. */
  spend(steps: number): boolean {
    this.stepsLeft -= steps;
    if (this.stepsLeft > 0) return true;
    this.isOver = true;
    return false;
  }

  /** Goes one schema deeper; false when that is too deep, or the run is over. Pair with `leave`. */
  enter(): boolean {
    if (this.isOver || !this.spend(this.#depth < MAX_DEPTH ? 1 : this.stepsLeft)) return false;
    this.#depth += 1;
    return true;
  }

  leave(): void {
    this.#depth -= 1;
  }

  /** Records a problem unless the schema is only tried. `was` describes the value, if that helps. */
  fail(path: Path | null, problem: () => string, was?: () => string): void {
    if (!this.isOver && this.#quiet === 0) {
      const quoted = was === undefined || this.#isSecret ? '' : `, was ${was()}`;
      this.problems.push({ path: pathText(path), problem: problem() + quoted });
    }
    this.isOver ||= this.#quiet > 0 || this.problems.length >= MAX_PROBLEMS;
  }

  /** From here to `endAttempt` no problem is recorded. False where nothing more need be tried. */
  beginAttempt(): boolean {
    if (this.isOver) return false;
    this.#quiet += 1;
    return true;
  }

  /** True where there was no problem since. */
  endAttempt(): boolean {
    const isAccepted = !this.isOver;
    this.#quiet -= 1;
    this.isOver = this.isExhausted;
    return isAccepted;
  }
}

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
