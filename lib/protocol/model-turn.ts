import { z } from 'zod';
import { callStatusSchema } from './call-status.ts';

/** Tokens as the provider counts them; null where it did not say. */
export const modelUsageSchema = z.object({
  input_tokens: z.number().int().nullable(),
  output_tokens: z.number().int().nullable(),
  /** It is part of the output. */
  reasoning_tokens: z.number().int().nullable(),
  /** So much of the input was read from the provider's cache. */
  cached_tokens: z.number().int().nullable(),
});
export type ModelUsage = z.infer<typeof modelUsageSchema>;

/** A picture as it was sent, scaled down where the blob was too large. */
const sentImageSchema = z.object({
  blob_id: z.string(),
  media_type: z.string(),
  /** It is that of the bytes that were sent, hex. */
  sha256: z.string(),
  bytes: z.number().int(),
});

/** The result of a call as a request had it. */
export const sentPartSchema = z.object({
  tool_call_id: z.string(),
  /** It is that of the text as UTF-8, hex. */
  sha256: z.string(),
  /** The text has so many as UTF-8. */
  bytes: z.number().int(),
  /** The text has beginning and end of a longer one. */
  cut: z.boolean(),
  /** The bound of the text, in bytes; 32 KiB where it is not given. */
  limit: z.number().int().optional(),
  images: z.array(sentImageSchema),
});
export type SentPart = z.infer<typeof sentPartSchema>;

/** One request to a model, as it is stored. Times are Unix seconds. */
export const storedModelTurnSchema = z.object({
  run_id: z.string(),
  /** In the order of the requests of a run, from 1. */
  number: z.number().int(),
  /** The assistant's message that the answer went to. */
  message_id: z.string(),
  /** Which of the person's messages began it, from 1. */
  turn: z.number().int(),
  /** From 1; the last answer, without tools, is one step above the run's `max_steps`. */
  step: z.number().int(),
  /** From 1; above it, the same step was asked for again. */
  attempt: z.number().int(),
  model: z.string(),
  started_at: z.number(),
  /** When the first piece of the answer came; null when none did. */
  first_token_at: z.number().nullable(),
  ended_at: z.number().nullable(),
  /** The model gave it, e.g. `stop`, `tool-calls`, `length`. */
  finish_reason: z.string().nullable(),
  /** Why there is no finish reason: the code of a notice, or `cancelled`. */
  error_code: z.string().nullable(),
  usage: modelUsageSchema,
  tools_offered: z.number().int(),
  /** It is that of names, descriptions and schemas as they were offered, hex; null when none were. */
  tools_sha256: z.string().nullable(),
  /** It is that of instructions, messages and `tools_sha256`, hex. */
  prompt_sha256: z.string(),
  /** Version of the rules by which a call's record becomes the text of its result. */
  rendering: z.number().int(),
  /** The results that were sent for the first time, or in another form than the last time. */
  sent: z.array(sentPartSchema),
});
export type StoredModelTurn = z.infer<typeof storedModelTurnSchema>;

export const modelTurnSchema = storedModelTurnSchema.extend({
  /** `interrupted`: the server ended before the answer did. */
  state: z.enum(['running', 'done', 'failed', 'interrupted']),
});
export type ModelTurn = z.infer<typeof modelTurnSchema>;

/** A model is sent this of a call, made from the call's record as it is now. */
export const modelOutputSchema = z.object({
  tool_call_id: z.string(),
  /** The text of a call that is not final says that its outcome is unknown. */
  status: callStatusSchema,
  text: z.string(),
  sha256: z.string(),
  bytes: z.number().int(),
  cut: z.boolean(),
  /** Blobs that a model that takes pictures is shown beside the text. */
  images: z.array(z.string()),
  rendering: z.number().int(),
  /**
   * The requests that had it for the first time or in another form, in order, at most 20. Where
   * `sha256` is that of the text above, the text is what the model got.
   */
  sent: z.array(
    modelTurnSchema
      .pick({
        number: true,
        turn: true,
        step: true,
        attempt: true,
        model: true,
        started_at: true,
        rendering: true,
      })
      .extend(sentPartSchema.omit({ tool_call_id: true }).shape),
  ),
});
export type ModelOutputRecord = z.infer<typeof modelOutputSchema>;
