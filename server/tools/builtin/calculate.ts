import {
  create,
  type FunctionNode,
  factory,
  isConstantNode,
  isFunctionNode,
  isOperatorNode,
  isParenthesisNode,
  isSymbolNode,
  type MathNode,
  numericDependencies,
  type OperatorNode,
  parseDependencies,
} from 'mathjs/number';
import { z } from 'zod';
import { defineTool, ToolError } from '../define-tool.ts';
import { CalculationError, FUNCTIONS, OPERATORS, type Value, withinDoubles } from './arithmetic.ts';

const MAX_CHARS = 2_000;
const MAX_DEPTH = 50;

const CONSTANTS = new Map([
  ['pi', Math.PI],
  ['e', Math.E],
  ['tau', 2 * Math.PI],
]);

const FUNCTION_NAMES = [...FUNCTIONS.keys()];

export interface Calculation {
  /** An integer beyond 2^53 is a string of its digits. */
  readonly value: number | string;
  /** The value is not exact: digits were cut off, or it is beyond 2^53 and no exact integer. */
  readonly rounded?: true;
}

/**
 * Computes an arithmetic expression. The library only parses: what the tree may
 * hold and what it means is decided here, so nothing of the language under it
 * can be reached. Throws `CalculationError`.
 */
function calculate(expression: string): Calculation {
  if (expression.length > MAX_CHARS) {
    throw new CalculationError(`The expression must have at most ${MAX_CHARS} characters.`);
  }
  const value = evaluate(parseExpression(expression), 0);
  return typeof value === 'bigint' ? showInteger(value) : showDouble(value);
}

function showInteger(value: bigint): Calculation {
  const number = Number(value);
  return { value: Number.isSafeInteger(number) ? number : String(value) };
}

function showDouble(value: number): Calculation {
  if (Number.isNaN(value)) throw new CalculationError('The result is not a real number.');
  if (!Number.isFinite(value)) {
    throw new CalculationError('The result is infinite: too large, or a division by zero.');
  }
  if (Number.isSafeInteger(value)) return { value };
  // Binary fractions leave dust in the last digits: 0.1 + 0.2 is 0.3 to fifteen of them.
  const shown = Number(value.toPrecision(15));
  const isExact = shown === value && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  return isExact ? { value } : { value: shown, rounded: true };
}

/** The parser by itself reads all numbers as doubles, which lose the digits of long integers. */
const createNumeric = factory('numeric', ['number'], ({ number }) => (text: string): Value => {
  const isInteger = /^(?:\d+|0[box][\da-f]+)$/i.test(text);
  return isInteger ? withinDoubles(BigInt(text)) : number(text);
});
const { parse } = create({
  ...parseDependencies,
  numericDependencies: { ...numericDependencies, createNumeric },
});

function parseExpression(expression: string): MathNode {
  // The parser calls itself for each of them.
  if (deepestBracket(expression) > MAX_DEPTH) throw tooDeep();
  try {
    // A line break makes a block of statements of it.
    return parse(expression.trim());
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it cannot be read';
    throw new CalculationError(`This is not an arithmetic expression: ${reason}.`);
  }
}

function deepestBracket(expression: string): number {
  let depth = 0;
  let deepest = 0;
  for (const char of expression) {
    if ('([{'.includes(char)) depth += 1;
    else if (')]}'.includes(char)) depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

const tooDeep = () =>
  new CalculationError(`The expression is too deep: at most ${MAX_DEPTH} parts one in the other.`);

function evaluate(node: MathNode, depth: number): Value {
  if (depth > MAX_DEPTH) throw tooDeep();
  if (isConstantNode(node)) return readConstant(node.value);
  if (isParenthesisNode(node)) return evaluate(node.content, depth + 1);
  if (isSymbolNode(node)) {
    const value = CONSTANTS.get(node.name);
    if (value !== undefined) return value;
    throw new CalculationError(
      `"${node.name}" is unknown; known names are ${[...CONSTANTS.keys()].join(', ')}.`,
    );
  }
  if (isOperatorNode(node)) return operate(node, depth);
  if (isFunctionNode(node)) return callFunction(node, depth);
  throw new CalculationError(
    'Only numbers, + - * / ^ % !, parentheses and the known functions are allowed.',
  );
}

type Operation = Pick<OperatorNode, 'args'> & { readonly fn: string; readonly op: string };

function operate({ fn, op, args }: Operation, depth: number): Value {
  const operator = OPERATORS.get(fn);
  if (!operator) {
    throw new CalculationError(`The operator "${op}" is not allowed; use + - * / ^ % !.`);
  }
  // A chain, 1 + 2 + 3, hangs on its left: it is long, as the expression may be, and not deep.
  const isChain = args.length === 2;
  return operator(...args.map((arg, at) => evaluate(arg, isChain && at === 0 ? depth : depth + 1)));
}

function readConstant(value: unknown): Value {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  throw new CalculationError(
    value === undefined
      ? 'The expression is empty.'
      : 'Only numbers are allowed, no texts or other values.',
  );
}

function callFunction(node: FunctionNode, depth: number): Value {
  // The type excludes it, but what is called may be any expression.
  const callee: MathNode = node.fn;
  const name = isSymbolNode(callee) ? callee.name : '';
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
  return known.of(...node.args.map((arg) => evaluate(arg, depth + 1)));
}

/** `calculation.eval`: arithmetic, computed here and at once. */
export function createCalculationEval() {
  return defineTool({
    name: 'calculation.eval',
    displayName: 'Calculator',
    description: `Computes an arithmetic expression, e.g. "2 * (3 + 4) ^ 2". Returns {expression, value, rounded?}: integers are exact, beyond 2^53 as a string of digits; other values have at most 15 digits, and rounded: true where that is not exact. Operators: + - * / ^ % !. Constants: pi, e, tau. Functions: ${FUNCTION_NAMES.join(', ')}; angles are radians. No variables, units or texts.`,
    args: z.object({
      expression: z.string().min(1).max(MAX_CHARS).describe('The expression, e.g. "sqrt(2) * 10"'),
    }),
    effect: 'read',
    timeoutMs: 3_000,
    run: async ({ expression }, { status }) => {
      status({ tip: `Computing ${expression}` });
      try {
        return { output: { expression, ...calculate(expression) } };
      } catch (error) {
        if (error instanceof CalculationError) throw new ToolError(error.message);
        throw error;
      }
    },
  });
}
