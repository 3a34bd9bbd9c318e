/** An expression that cannot be computed; the message is for its author. */
export class CalculationError extends Error {
  override readonly name = 'CalculationError';
}

/** An exact integer, or a double. */
export type Value = bigint | number;

/** An operator or a function. */
export type Compute = (...args: Value[]) => Value;

const isExact = (value: Value): value is bigint => typeof value === 'bigint';

/** The integer; infinite where no double reaches it, so that none has more than 309 digits. */
export function withinDoubles(integer: bigint): Value {
  const double = Number(integer);
  return Number.isFinite(double) ? integer : double;
}

interface Computation {
  readonly float: (...args: number[]) => Value;
  readonly exact?: (...args: bigint[]) => bigint | undefined;
}

/** Computes integers exactly where `exact` has an answer, and all else in doubles. */
const compute =
  ({ float, exact }: Computation): Compute =>
  (...args) => {
    const result = args.every(isExact) ? exact?.(...args) : undefined;
    return result === undefined ? float(...args.map(Number)) : withinDoubles(result);
  };

const add = compute({ float: (a, b) => a + b, exact: (a, b) => a + b });
const subtract = compute({ float: (a, b) => a - b, exact: (a, b) => a - b });
const multiply = compute({ float: (a, b) => a * b, exact: (a, b) => a * b });
const negate = compute({ float: (a) => -a, exact: (a) => -a });
const divide = compute({
  float: (a, b) => a / b,
  exact: (a, b) => (b !== 0n && a % b === 0n ? a / b : undefined),
});
const pow = compute({
  float: (a, b) => a ** b,
  // The double shows in one step how large it would be.
  exact: (a, b) => (b >= 0n && Number.isFinite(Number(a) ** Number(b)) ? a ** b : undefined),
});
/** The sign is that of the divisor, as in mathematics; JavaScript's `%` takes that of the dividend. */
const mod = compute({
  float: (a, b) => a - b * Math.floor(a / b),
  exact: (a, b) => (b === 0n ? undefined : ((a % b) + b) % b),
});

/** The operators, by mathjs' own names of what they do. */
export const OPERATORS: ReadonlyMap<string, Compute> = new Map([
  ...Object.entries({ add, subtract, multiply, divide, pow, mod, factorial }),
  ['unaryMinus', negate],
  ['unaryPlus', (a = Number.NaN) => a],
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

const sum: Compute = (...args) => args.reduce((a, b) => add(a, b), 0n);
const foremost =
  (isBefore: (a: bigint, b: bigint) => boolean) =>
  (...args: bigint[]) =>
    args.reduce((first, next) => (isBefore(next, first) ? next : first));
const logarithm = (a: number, base?: number) =>
  base === undefined ? Math.log(a) : Math.log(a) / Math.log(base);

/** Functions of one number, by the names that JavaScript has for them. */
const OF_DOUBLES = [
  ...(['sqrt', 'cbrt', 'exp', 'log2', 'log10'] as const),
  ...(['sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh'] as const),
];
const ROUNDING = ['floor', 'ceil', 'trunc'] as const;

/** A map, not an object: `constructor` and the like are in no map. */
export const FUNCTIONS: ReadonlyMap<string, MathFunction> = new Map([
  ['abs', one(compute({ float: Math.abs, exact: (a) => (a < 0n ? -a : a) }))],
  ['sign', one(compute({ float: (a) => toInteger(Math.sign(a)), exact: signOf }))],
  ...ROUNDING.map((name): [string, MathFunction] => [
    name,
    one(compute({ float: (a) => toInteger(Math[name](a)), exact: (a) => a })),
  ]),
  ...OF_DOUBLES.map((name): [string, MathFunction] => [name, one(compute({ float: Math[name] }))]),
  ['ln', one(compute({ float: Math.log }))],
  ['log', { min: 1, max: 2, of: compute({ float: logarithm }) }],
  ['round', { min: 1, max: 2, of: compute({ float: round, exact: roundInteger }) }],
  ['pow', two(pow)],
  ['mod', two(mod)],
  ['atan2', two(compute({ float: Math.atan2 }))],
  ['factorial', one(factorial)],
  ['min', many(compute({ float: Math.min, exact: foremost((a, b) => a < b) }))],
  ['max', many(compute({ float: Math.max, exact: foremost((a, b) => a > b) }))],
  ['sum', many(sum)],
  ['mean', many((...args) => divide(sum(...args), BigInt(args.length)))],
  ['hypot', many(compute({ float: Math.hypot }))],
]);

/** Its function makes it whole: an exact integer where a double holds it exactly. */
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
