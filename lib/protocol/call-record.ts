import { z } from 'zod';
import { attachmentSchema } from './attachment.ts';
import { callErrorSchema, callPhaseSchema, callStatusSchema } from './call-status.ts';
import { cardUpdateSchema } from './card.ts';

/** A call as HTTP tells it (contract, section 6). Times are Unix seconds, null while open. */
export const callRecordSchema = z.object({
  tool_call_id: z.string(),
  run_id: z.string(),
  tool_name: z.string(),
  source: z.enum(['server', 'client']),
  status: callStatusSchema,
  phase: callPhaseSchema.nullable(),
  args: z.record(z.string(), z.unknown()),
  result: z.unknown(),
  error: callErrorSchema.nullable(),
  attachments: z.array(attachmentSchema),
  created_at: z.number(),
  completed_at: z.number().nullable(),
  client_id: z.string().nullable(),
  attempt: z.number().int(),
  timeout_ms: z.number(),
  timings: z.object({
    queued_at: z.number().nullable(),
    offered_at: z.number().nullable(),
    started_at: z.number().nullable(),
    completed_at: z.number().nullable(),
  }),
  late_result: z.unknown(),
  retry_of: z.string().nullable(),
  card: cardUpdateSchema,
});
export type WireCallRecord = z.infer<typeof callRecordSchema>;

/** A call as the watch socket's snapshot carries it: enough to draw its card. */
export const watchedCallSchema = z.object({
  tool_call_id: z.string(),
  run_id: z.string(),
  card: cardUpdateSchema,
});
