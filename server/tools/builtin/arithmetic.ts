/** An expression that cannot be computed; the message is for its author. */
export class CalculationError extends Error {
  override readonly name = 'CalculationError';
}

/** An exact integer, or a double. */
export type Value = bigint | number;

/** What an operator or a function does to its arguments. */
export type Compute = (...args: Value[]) => Value;

const isExact = (value: Value): value is bigint => typeof value === 'bigint';

/** The integer; infinite where no double reaches it, so that none has more than 309 digits. */
export function withinDoubles(integer: bigint): Value {
  const double = Number(integer);
  return Number.isFinite(double) ? integer : double;
}

/** Computes integers exactly where `exact` has an answer, and all else in doubles. */
const compute =
  (
    float: (...args: number[]) => Value,
    exact: (...args: bigint[]) => bigint | undefined = () => undefined,
  ): Compute =>
  (...args) => {
    const result = args.every(isExact) ? exact(...args) : undefined;
    return result === undefined ? float(...args.map(Number)) : withinDoubles(result);
  };

const add = compute(
  (a, b) => a + b,
  (a, b) => a + b,
);
const divide = compute(
  (a, b) => a / b,
  (a, b) => (b !== 0n && a % b === 0n ? a / b : undefined),
);
const pow = compute(
  (a, b) => a ** b,
  // The double shows in one step how large it would be.
  (a, b) => (b >= 0n && Number.isFinite(Number(a) ** Number(b)) ? a ** b : undefined),
);
/** The sign of the divisor, as in mathematics; JavaScript's `%` takes that of the dividend. */
const mod = compute(
  (a, b) => a - b * Math.floor(a / b),
  (a, b) => (b === 0n ? undefined : ((a % b) + b) % b),
);

/** By mathjs' own names of what an operator does. */
export const OPERATORS: ReadonlyMap<string, Compute> = new Map([
  ['add', add],
  [
    'subtract',
    compute(
      (a, b) => a - b,
      (a, b) => a - b,
    ),
  ],
  [
    'multiply',
    compute(
      (a, b) => a * b,
      (a, b) => a * b,
    ),
  ],
  ['divide', divide],
  ['pow', pow],
  ['mod', mod],
  [
    'unaryMinus',
    compute(
      (a) => -a,
      (a) => -a,
    ),
  ],
  ['unaryPlus', (a = Number.NaN) => a],
  ['factorial', factorial],
]);

interface MathFunction {
  /** How many arguments it takes. */
  readonly min: number;
  readonly max: number;
  readonly of: Compute;
}
const one = (of: Compute): MathFunction => ({ min: 1, max: 1, of });
const two = (of: Compute): MathFunction => ({ min: 2, max: 2, of });
const many = (of: Compute): MathFunction => ({ min: 1, max: 100, of });

const foremost =
  (isBefore: (a: bigint, b: bigint) => boolean) =>
  (...args: bigint[]) =>
    args.reduce((first, next) => (isBefore(next, first) ? next : first));

const sum: Compute = (...args) => args.reduce((a, b) => add(a, b), 0n);

/** A map, not an object: `constructor` and the like are in no map. */
export const FUNCTIONS: ReadonlyMap<string, MathFunction> = new Map([
  ['abs', one(compute(Math.abs, (a) => (a < 0n ? -a : a)))],
  ['sign', one(compute((a) => toInteger(Math.sign(a)), signOf))],
  ...(['floor', 'ceil', 'trunc'] as const).map((name): [string, MathFunction] => [
    name,
    one(
      compute(
        (a) => toInteger(Math[name](a)),
        (a) => a,
      ),
    ),
  ]),
  ...(
    [
      ...(['sqrt', 'cbrt', 'exp', 'log2', 'log10'] as const),
      ...(['sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh'] as const),
    ] as const
  ).map((name): [string, MathFunction] => [name, one(compute(Math[name]))]),
  ['ln', one(compute(Math.log))],
  [
    'log',
    {
      min: 1,
      max: 2,
      of: compute((a, base) => (base === undefined ? Math.log(a) : Math.log(a) / Math.log(base))),
    },
  ],
  ['round', { min: 1, max: 2, of: compute(round, roundInteger) }],
  ['pow', two(pow)],
  ['mod', two(mod)],
  ['atan2', two(compute(Math.atan2))],
  ['factorial', one(factorial)],
  [
    'min',
    many(
      compute(
        Math.min,
        foremost((a, b) => a < b),
      ),
    ),
  ],
  [
    'max',
    many(
      compute(
        Math.max,
        foremost((a, b) => a > b),
      ),
    ),
  ],
  ['sum', many(sum)],
  ['mean', many((...args) => divide(sum(...args), BigInt(args.length)))],
  ['hypot', many(compute(Math.hypot))],
]);

/** What is whole by its function: an exact integer where a double holds it exactly. */
const toInteger = (value: number): Value => (Number.isSafeInteger(value) ? BigInt(value) : value);

function signOf(a: bigint): bigint {
  if (a === 0n) return 0n;
  return a < 0n ? -1n : 1n;
}

/** Beyond 170 the result is too large for a double. */
function factorial(value: Value = Number.NaN): bigint {
  const n = Number(value);
  if (!Number.isInteger(n) || n < 0 || n > 170) {
    throw new CalculationError('The factorial is known for whole numbers from 0 to 170.');
  }
  let product = 1n;
  for (let i = 2n; i <= n; i += 1n) product *= i;
  return product;
}

function round(value: number, digits = 0): Value {
  checkDigits(digits);
  if (digits === 0) return toInteger(Math.round(value));
  // Through text, since 1.005 * 100 is not 100.5.
  const shifted = Number(`${value}e${digits}`);
  return Number.isFinite(shifted) ? Number(`${Math.round(shifted)}e-${digits}`) : value;
}

function roundInteger(value: bigint, digits = 0n): bigint {
  checkDigits(Number(digits));
  return value;
}

function checkDigits(digits: number): void {
  if (!Number.isInteger(digits) || digits < 0 || digits > 15) {
    throw new CalculationError('round takes from 0 to 15 digits.');
  }
}
