import { z } from 'zod';
import { closedObject } from '#lib/protocol/closed-object';

/** Of the paths for programs that speak the API of OpenAI. */
export const openAiConfigSchema = closedObject({
  enabled: z.boolean().default(false),
  /** How a chat completion shows the calls of its turn: a line of text each, or not at all. */
  chat_calls: z.enum(['lines', 'none']).default('lines'),
  /**
   * How a response does: an item `mcp_call` each, which programs take for made; the items
   * `function_call` and `function_call_output`, which some would make once more; or as above.
   */
  response_calls: z.enum(['mcp_call', 'function_call', 'lines', 'none']).default('mcp_call'),
}).prefault({});

export type OpenAiConfig = z.infer<typeof openAiConfigSchema>;
