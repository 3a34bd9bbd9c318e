import { z } from 'zod';
import { defineTool, ToolError } from '../define-tool.ts';
import { CalculationError } from './arithmetic.ts';
import { calculate, FUNCTION_NAMES, MAX_CHARS } from './calculate.ts';

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
