import { z } from 'zod';

const figures = {
  count: z.number().int().describe('Calls that have ended'),
  succeeded: z.number().int(),
  decided: z
    .number()
    .int()
    .describe('Denied, cancelled, or not approved in time: neither successes nor failures'),
  expired: z.number().int().describe('Of those the ones that nobody decided in time'),
  failures: z
    .record(z.string(), z.number().int())
    .describe(
      'Calls without success by the tool’s own code of the error, else by ours, those decided too',
    ),
  p50_ms: z
    .number()
    .nullable()
    .describe('From the start of the tool to its end; of calls that started'),
  p95_ms: z.number().nullable(),
  p99_ms: z.number().nullable(),
};

const toolErrorSchema = z.object({
  tool_call_id: z.string(),
  at: z.number().describe('Unix seconds'),
  code: z.string(),
  message: z.string(),
});

const toolUseSchema = z.object({
  tool_name: z.string(),
  ...figures,
  last_errors: z.array(toolErrorSchema).describe('Newest first'),
  clients: z
    .array(z.object({ client_id: z.string(), ...figures }))
    .describe('Those that ran it, most calls first'),
});

/** `GET /v1/tools/stats` answers this. */
export const toolStatsSchema = z.object({
  calls: z.number().int().describe('How many ended calls were looked at, the newest'),
  from: z.number().nullable().describe('When the oldest of them ended, in Unix seconds'),
  to: z.number().nullable().describe('When the newest did'),
  tools: z.array(toolUseSchema).describe('Most calls first'),
});
export type ToolStats = z.infer<typeof toolStatsSchema>;
