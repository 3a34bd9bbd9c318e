import { z } from 'zod';
import { COMPLETION_TOOL } from '#lib/protocol/completion';
import { defineTool } from '../define-tool.ts';

const TIMEOUT_MS = 5_000;
const LONGEST_RESULT = 100_000;

/** `attempt_completion`: the model ends its turn with a result, in place of an answer without a call. */
export const createAttemptCompletion = () =>
  defineTool({
    name: COMPLETION_TOOL,
    displayName: 'Complete the task',
    description:
      'Ends the task with its result, which the user reads. Call it alone, once the results of all other calls are there; beside other calls it is refused. Nothing is asked of you after it.',
    args: z.object({
      result: z
        .string()
        .min(1)
        .max(LONGEST_RESULT)
        .describe('The whole result for the user, in Markdown; no question'),
    }),
    effect: 'read',
    endsTurn: true,
    timeoutMs: TIMEOUT_MS,
    onPartial: (_args, { status }) => status({ tip: 'Writing the result' }),
    run: async ({ result }) => ({ output: 'The task is completed.', display: result }),
  });
