import { z } from 'zod';

/** This much is read of requests of the API of OpenAI (docs/openai-api.md); all else of them is ignored. */

/** The `model` of a request that means the server's default. */
export const DEFAULT_MODEL = 'callboard';

/** A text, or parts of texts and files: each is read by itself (server/doors/message-content.ts). */
const contentSchema = z.unknown().optional();

const MOST_MESSAGES = 10_000;

const common = {
  /** A model as `GET /v1/models` lists it; `callboard`: the server's default. */
  model: z.string().min(1).max(256),
  stream: z.boolean().nullish(),
  /** Requests with the same one are one conversation. */
  user: z.string().max(256).nullish(),
};

export const chatCompletionBodySchema = z.object({
  ...common,
  messages: z
    .array(z.object({ role: z.string().max(32), content: contentSchema }))
    .min(1)
    .max(MOST_MESSAGES),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
});
export type ChatCompletionBody = z.infer<typeof chatCompletionBodySchema>;

export const responseBodySchema = z.object({
  ...common,
  input: z.union([
    z.string(),
    z
      .array(
        z.object({
          type: z.string().max(64).optional(),
          role: z.string().max(32).optional(),
          /** An `item_reference` has it: an item of an earlier answer. */
          id: z
            .string()
            .max(256)
            .nullish()
            .transform((id) => id ?? undefined),
          content: contentSchema,
        }),
      )
      .min(1)
      .max(MOST_MESSAGES),
  ]),
  instructions: z.string().nullish(),
  /** Answers are not kept here under ids of their own. */
  previous_response_id: z.string().max(256).nullish(),
});
export type ResponseBody = z.infer<typeof responseBodySchema>;
