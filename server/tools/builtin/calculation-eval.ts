import { z } from 'zod';
import { defineTool, ToolError } from '../define-tool.ts';
import { CalculationError, calculate, FUNCTION_NAMES } from './calculate.ts';

/** `calculation.eval`: arithmetic, computed here and at once. */
export function createCalculationEval() {
  return defineTool({
    name: 'calculation.eval',
    displayName: 'Calculator',
    description: `Computes an arithmetic expression exactly as written, e.g. "2 * (3 + 4) ^ 2". Operators: + - * / ^ % !. Constants: pi, e, tau. Functions: ${FUNCTION_NAMES.join(', ')}; angles are radians. No variables, units or texts.`,
    args: z.object({
      expression: z.string().min(1).max(500).describe('The expression, e.g. "sqrt(2) * 10"'),
    }),
    effect: 'read',
    timeoutMs: 3_000,
    run: async ({ expression }, { status }) => {
      status({ tip: `Computing ${expression}` });
      try {
        return { output: { expression, value: calculate(expression) } };
      } catch (error) {
        if (error instanceof CalculationError) throw new ToolError(error.message);
        throw error;
      }
    },
  });
}
