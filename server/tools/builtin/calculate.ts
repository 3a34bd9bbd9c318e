import {
  type ConstantNode,
  type FunctionNode,
  type MathNode,
  type OperatorNode,
  type ParenthesisNode,
  parse,
  type SymbolNode,
} from 'mathjs/number';

const MAX_CHARS = 500;
const MAX_NODES = 300;
const MAX_DEPTH = 50;

/** An expression that cannot be computed; the message is for whoever wrote it. */
export class CalculationError extends Error {
  override readonly name = 'CalculationError';
}

const CONSTANTS = new Map([
  ['pi', Math.PI],
  ['e', Math.E],
  ['tau', 2 * Math.PI],
]);

/** By mathjs' own names of what an operator does. */
const OPERATORS = new Map<string, (a: number, b: number) => number>([
  ['add', (a, b) => a + b],
  ['subtract', (a, b) => a - b],
  ['multiply', (a, b) => a * b],
  ['divide', (a, b) => a / b],
  ['pow', (a, b) => a ** b],
  // The sign of the divisor, as in mathematics; JavaScript's `%` takes that of the dividend.
  ['mod', (a, b) => a - b * Math.floor(a / b)],
  ['unaryMinus', (a) => -a],
  ['unaryPlus', (a) => a],
  ['factorial', factorial],
]);

type Computation = {
  readonly min: number;
  readonly max: number;
  readonly of: (...args: number[]) => number;
};
const one = (of: (a: number) => number): Computation => ({
  min: 1,
  max: 1,
  of: (a = Number.NaN) => of(a),
});
const many = (of: (...args: number[]) => number): Computation => ({ min: 1, max: 100, of });

/** A map, not an object: `constructor` and the like are in no map. */
const FUNCTIONS = new Map<string, Computation>([
  ...(
    ['abs', 'sqrt', 'cbrt', 'exp', 'floor', 'ceil', 'trunc', 'sign', 'log2', 'log10'] as const
  ).map((name) => [name, one(Math[name])] as const),
  ...(['sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh'] as const).map(
    (name) => [name, one(Math[name])] as const,
  ),
  ['ln', one(Math.log)],
  [
    'log',
    {
      min: 1,
      max: 2,
      of: (a = Number.NaN, base) =>
        base === undefined ? Math.log(a) : Math.log(a) / Math.log(base),
    },
  ],
  ['round', { min: 1, max: 2, of: (a = Number.NaN, digits = 0) => round(a, digits) }],
  ['pow', { min: 2, max: 2, of: (a = Number.NaN, b = Number.NaN) => a ** b }],
  ['mod', { min: 2, max: 2, of: (a = Number.NaN, b = Number.NaN) => a - b * Math.floor(a / b) }],
  ['atan2', { min: 2, max: 2, of: (a = Number.NaN, b = Number.NaN) => Math.atan2(a, b) }],
  ['factorial', one(factorial)],
  ['min', many(Math.min)],
  ['max', many(Math.max)],
  ['sum', many((...args) => args.reduce((a, b) => a + b, 0))],
  ['mean', many((...args) => args.reduce((a, b) => a + b, 0) / args.length)],
  ['hypot', many(Math.hypot)],
]);

export const FUNCTION_NAMES = [...FUNCTIONS.keys()];

/**
 * Computes an arithmetic expression. The library only parses: what the tree may
 * hold and what it means is decided here, so nothing of the language under it
 * can be reached. Throws `CalculationError`.
 */
export function calculate(expression: string): number {
  if (expression.length > MAX_CHARS) {
    throw new CalculationError(`The expression must have at most ${MAX_CHARS} characters.`);
  }
  const budget = { nodes: MAX_NODES };
  const value = evaluate(parseExpression(expression), 0, budget);
  if (Number.isNaN(value)) throw new CalculationError('The result is not a real number.');
  if (!Number.isFinite(value)) {
    throw new CalculationError('The result is infinite: too large, or a division by zero.');
  }
  // Binary fractions leave dust in the last digits: 0.1 + 0.2 is 0.3 to fifteen of them.
  return Number.isSafeInteger(value) ? value : Number(value.toPrecision(15));
}

function parseExpression(expression: string): MathNode {
  try {
    return parse(expression);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it cannot be read';
    throw new CalculationError(`This is no arithmetic expression: ${reason}.`);
  }
}

const isConstant = (node: MathNode): node is ConstantNode => node.type === 'ConstantNode';
const isParenthesis = (node: MathNode): node is ParenthesisNode => node.type === 'ParenthesisNode';
const isSymbol = (node: MathNode): node is SymbolNode => node.type === 'SymbolNode';
const isOperator = (node: MathNode): node is OperatorNode => node.type === 'OperatorNode';
const isFunction = (node: MathNode): node is FunctionNode => node.type === 'FunctionNode';

function evaluate(node: MathNode, depth: number, budget: { nodes: number }): number {
  budget.nodes -= 1;
  if (depth > MAX_DEPTH || budget.nodes < 0) {
    throw new CalculationError(
      `The expression is too long: at most ${MAX_NODES} parts, ${MAX_DEPTH} one in the other.`,
    );
  }
  const compute = (one: MathNode) => evaluate(one, depth + 1, budget);
  if (isConstant(node)) return readConstant(node.value);
  if (isParenthesis(node)) return compute(node.content);
  if (isSymbol(node)) {
    const value = CONSTANTS.get(node.name);
    if (value !== undefined) return value;
    throw new CalculationError(
      `"${node.name}" is unknown; known names are ${[...CONSTANTS.keys()].join(', ')}.`,
    );
  }
  if (isOperator(node)) {
    const operate = OPERATORS.get(node.fn);
    if (!operate)
      throw new CalculationError(`The operator "${node.op}" is not allowed; use + - * / ^ % !.`);
    const [a = Number.NaN, b = Number.NaN] = node.args.map(compute);
    return operate(a, b);
  }
  if (isFunction(node)) return callFunction(node, compute);
  throw new CalculationError(
    'Only numbers, + - * / ^ % !, parentheses and the known functions are allowed.',
  );
}

function readConstant(value: unknown): number {
  if (typeof value === 'number') return value;
  throw new CalculationError(
    value === undefined
      ? 'The expression is empty.'
      : 'Only numbers are allowed, no texts or other values.',
  );
}

function callFunction(node: FunctionNode, compute: (node: MathNode) => number): number {
  // The type says otherwise, but what is called may be any expression.
  const callee: MathNode = node.fn;
  const name = isSymbol(callee) ? callee.name : '';
  const known = FUNCTIONS.get(name);
  if (!known) {
    throw new CalculationError(
      `The function "${name}" is unknown; known are ${FUNCTION_NAMES.join(', ')}.`,
    );
  }
  if (node.args.length < known.min || node.args.length > known.max) {
    const count = known.min === known.max ? `${known.min}` : `${known.min} to ${known.max}`;
    throw new CalculationError(`${name} takes ${count} numbers, not ${node.args.length}.`);
  }
  return known.of(...node.args.map(compute));
}

/** Beyond 170 the result is no number any more. */
function factorial(n: number): number {
  if (!Number.isInteger(n) || n < 0 || n > 170) {
    throw new CalculationError('The factorial is known for whole numbers from 0 to 170.');
  }
  let product = 1;
  for (let i = 2; i <= n; i += 1) product *= i;
  return product;
}

function round(value: number, digits: number): number {
  if (!Number.isInteger(digits) || digits < 0 || digits > 15) {
    throw new CalculationError('round takes from 0 to 15 digits.');
  }
  // Through text, since 1.005 * 100 is not 100.5.
  const shifted = Number(`${value}e${digits}`);
  return Number.isFinite(shifted) ? Number(`${Math.round(shifted)}e-${digits}`) : value;
}
