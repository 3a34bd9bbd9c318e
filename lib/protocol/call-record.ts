import { z } from 'zod';
import { attachmentSchema } from './attachment.ts';
import { callErrorSchema, callPhaseSchema, callStatusSchema } from './call-status.ts';
import { cardUpdateSchema } from './card.ts';

/** A call as HTTP sends it (contract, section 6). Times are Unix seconds, null while open. */
export const callRecordSchema = z.object({
  tool_call_id: z.string(),
  run_id: z.string(),
  tool_name: z.string(),
  /** `server`, `client`, or the kind of another provider of tools. */
  source: z.string(),
  /** Given where `source` does not say it: what is of `server` is trusted, and nothing else. */
  trusted: z.boolean().optional(),
  status: callStatusSchema,
  phase: callPhaseSchema.nullable(),
  args: z.record(z.string(), z.unknown()),
  result: z.unknown(),
  /** People are shown this in place of the result; missing when the tool gave none. */
  display: z.unknown().optional(),
  /** The newest that a running tool showed of its work; missing when it showed nothing. */
  preview: z.unknown().optional(),
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
  /** The id by which the model that made the call knows it. */
  model_call_id: z.string().optional(),
  card: cardUpdateSchema,
});
export type WireCallRecord = z.infer<typeof callRecordSchema>;

const wholeBytes = z.number().int().nonnegative().optional();

/** A call in a list: of a value over 16 KiB the beginning, and the bytes of the whole beside it. */
export const listedCallSchema = callRecordSchema.extend({
  truncated: z.literal(true).optional(),
  args_bytes: wholeBytes,
  result_bytes: wholeBytes,
  display_bytes: wholeBytes,
  preview_bytes: wholeBytes,
  late_result_bytes: wholeBytes,
});
export type ListedCall = z.infer<typeof listedCallSchema>;

/** One event of a call. `update` is what people were shown of it: those up to a version merge to its card. */
export const callEventSchema = z.object({
  version: z.number().int().positive(),
  type: z.string(),
  /** Unix seconds. */
  at: z.number(),
  actor: z.string(),
  /** By which token (null: that of the first run) and from which address; for people alone. */
  via: z.object({ token_id: z.string().nullable(), address: z.string() }).optional(),
  attempt: z.number().int(),
  update: cardUpdateSchema,
});
export type WireCallEvent = z.infer<typeof callEventSchema>;

/** A call as the watch socket's snapshot carries it: enough to draw its card. */
export const watchedCallSchema = z.object({
  tool_call_id: z.string(),
  run_id: z.string(),
  card: cardUpdateSchema,
});
