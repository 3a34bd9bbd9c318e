import { z } from 'zod';
import { type McpTool, RESULT_TOOL } from './mcp-tools.ts';

/** Hosts end a request after a minute. */
const LONGEST_WAIT_S = 40;

export const resultArgsSchema = z.object({
  call: z.string().max(128),
  wait_s: z.number().min(0).max(LONGEST_WAIT_S).default(LONGEST_WAIT_S),
});

/** By it a client without tasks gets the result of a call that took longer than an answer is held. */
export const resultTool: Omit<McpTool, 'reference'> = {
  name: RESULT_TOOL,
  title: 'Result of a call',
  description:
    'Gets the result of a call of yours that went on after its answer, by the id that the answer named. It waits until the call has ended, for at most wait_s seconds.',
  inputSchema: {
    type: 'object',
    properties: {
      call: { type: 'string', description: 'The id of the call: tc_ and 32 letters or digits' },
      wait_s: {
        ...{ type: 'number', minimum: 0, maximum: LONGEST_WAIT_S },
        description: `Seconds; ${LONGEST_WAIT_S} where it is not given`,
      },
    },
    required: ['call'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
};
