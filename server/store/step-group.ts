import type { SqlValue } from './compile-query.ts';

/** One statement of a transaction: its number, and its values as columns take them. */
export type WriteStep = readonly [statement: number, values: readonly SqlValue[]];

/**
 * The steps of a transaction as few values that are plain bytes: a fraction of
 * what it costs to clone many small ones, or to write them as JSON and read that.
 */
export interface StepGroup {
  /** Each step has its statement, how many values it has, and each value by its kind. */
  readonly numbers: Float64Array;
  /** Its texts, one behind the other. */
  readonly text: string;
  readonly longTexts: readonly string[];
}

/** A value has one of these kinds; but for null, one number more follows. */
const NULL = 0;
const NUMBER = 1;
/** The number is its length: it is the next part of the text. */
const TEXT = 2;
/** The number is its place among the long texts. */
const LONG_TEXT = 3;

/** A longer text is not copied into the text of the group. */
const LONG_CHARS = 64 * 1024;

export function toGroup(steps: readonly WriteStep[]): StepGroup {
  const numbers: number[] = [];
  const longTexts: string[] = [];
  let text = '';
  for (const [statement, values] of steps) {
    numbers.push(statement, values.length);
    for (const value of values) {
      if (value === null) numbers.push(NULL);
      else if (typeof value === 'number') numbers.push(NUMBER, value);
      else if (value.length > LONG_CHARS) numbers.push(LONG_TEXT, longTexts.push(value) - 1);
      else {
        numbers.push(TEXT, value.length);
        text += value;
      }
    }
  }
  return { numbers: Float64Array.from(numbers), text, longTexts };
}

export function* stepsOf({
  numbers,
  text,
  longTexts,
}: StepGroup): Generator<[statement: number, values: SqlValue[]]> {
  let place = 0;
  let read = 0;
  const next = () => numbers[place++] ?? 0;
  const nextValue = (): SqlValue => {
    switch (next()) {
      case NUMBER:
        return next();
      case TEXT: {
        const from = read;
        read += next();
        return text.slice(from, read);
      }
      case LONG_TEXT:
        return longTexts[next()] ?? null;
      default:
        return null;
    }
  };
  while (place < numbers.length) {
    const statement = next();
    const values: SqlValue[] = [];
    for (let left = next(); left > 0; left -= 1) values.push(nextValue());
    yield [statement, values];
  }
}
