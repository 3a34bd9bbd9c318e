import { z } from 'zod';
import { attachmentSchema } from './attachment.ts';
import { REASONING_EFFORTS } from './reasoning-efforts.ts';

/** One conversation of an agent (contract, section 1). */
const runStatusSchema = z.enum(['idle', 'running', 'failed', 'cancelled']);

/** The facts of a notice, by name; a page puts them into words of its language. */
const noticeParamsSchema = z.record(z.string(), z.union([z.string(), z.number()]));
export type NoticeParams = z.infer<typeof noticeParamsSchema>;

export const messagePartSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('reasoning'), text: z.string() }),
  /** The call itself, its arguments and its result lie in the call's record. */
  z.object({
    type: z.literal('tool_call'),
    tool_call_id: z.string(),
    /** The id by which the model itself knows it. */
    model_call_id: z.string().optional(),
  }),
  /** A person sent these beside the text. */
  z.object({ type: z.literal('file'), file: attachmentSchema }),
  /**
   * A turn reports this of itself, for people; never sent to the model. Code and params are what a
   * page shows in its language; `text` is the same in English, for all others.
   */
  z.object({
    type: z.literal('notice'),
    code: z.string(),
    text: z.string(),
    params: noticeParamsSchema.optional(),
  }),
]);
export type MessagePart = z.infer<typeof messagePartSchema>;

const messageAuthorSchema = z.object({ name: z.string(), token_id: z.string().nullable() });
export type MessageAuthor = z.infer<typeof messageAuthorSchema>;

export const messageSchema = z.object({
  message_id: z.string(),
  run_id: z.string(),
  role: z.enum(['user', 'assistant']),
  parts: z.array(messagePartSchema),
  status: z.enum(['streaming', 'done']),
  created_at: z.number(),
  /** The client whose person wrote it: the calls of its turn ask that client first. */
  client_id: z.string().optional(),
  /** Which of its instances, such as a tab: that one before its others. */
  instance_id: z.string().optional(),
  /**
   * The person's message in whose place it stands: that one, and all up to here, are kept and no
   * longer part of the conversation.
   */
  replaces: z.string().optional(),
  /** The id that another front end gave it: sent again, it is the same message. */
  given_id: z.string().optional(),
  /** The person who wrote it in the run of another; null: by the token of the first run. */
  author: messageAuthorSchema.optional(),
});
export type Message = z.infer<typeof messageSchema>;

/** Why the last turn failed; code and params as in its notice, `message` in English. */
const runErrorSchema = z.object({
  code: z.string(),
  message: z.string(),
  params: noticeParamsSchema.optional(),
});
export type RunError = z.infer<typeof runErrorSchema>;

/** The one who started a run: the name of the principal, and the id of its token. */
const runOwnerSchema = z.object({ name: z.string(), token_id: z.string() });
export type RunOwner = z.infer<typeof runOwnerSchema>;

const count = z.number();

/** Tokens of all requests of a run that were answered, as their providers count them. */
const ownUsageSchema = z.object({
  requests: count,
  /** The provider did not count the tokens of so many: they are missing below. */
  uncounted_requests: count,
  input_tokens: count,
  /** So much of the input was read from the provider's cache. */
  cached_tokens: count,
  output_tokens: count,
  /** It is part of the output. */
  reasoning_tokens: count,
  /** By the prices in the configuration; null where none of the requests has one. */
  cost: z
    .object({
      amount: count,
      currency: z.string(),
      /** Requests that are not in the amount. */
      unpriced_requests: count,
    })
    .nullable(),
});
const runUsageSchema = ownUsageSchema.extend({
  /** It includes the requests of its sub-agents and of those below them; not there where these made none. */
  with_children: ownUsageSchema.optional(),
});
export type RunUsage = z.infer<typeof runUsageSchema>;

/** The call whose tool made a run, and the sub-agent whose run it is. `depth`: how many calls stand above it. */
const runParentSchema = z.object({
  run_id: z.string(),
  call_id: z.string(),
  agent: z.string(),
  depth: z.number(),
});
export type RunParent = z.infer<typeof runParentSchema>;

/** The turn that runs has these as W3C `traceparent`: its own span, where that is exported, and what came in with it. */
const runTraceSchema = z.object({
  span: z.string().optional(),
  parent: z.string().optional(),
  started_at: z.number(),
  /** The run had used this before it; not there: nothing. */
  before: z.object({ input_tokens: z.number(), output_tokens: z.number() }).optional(),
});
export type RunTrace = z.infer<typeof runTraceSchema>;

/** How the model of a run is asked; what is not there is as the configuration says. */
export const runSettingsSchema = z.object({
  /** Added to the instructions of the agent. */
  instructions: z.string().max(32_768).optional(),
  temperature: z.number().min(0).max(2).optional(),
  reasoning_effort: z.enum(REASONING_EFFORTS).optional(),
});
export type RunSettings = z.infer<typeof runSettingsSchema>;

/** They hold for a run from then on. Null: as the configuration says. Not there: as before. */
export type NewSettings = {
  readonly [Name in keyof RunSettings]?: RunSettings[Name] | null;
};

export const runSummarySchema = z.object({
  run_id: z.string(),
  title: z.string(),
  status: runStatusSchema,
  /** Model reference, e.g. `openai:gpt-5` or `rehearsal`; null for a run of an outside agent. */
  model: z.string().nullable(),
  /** Names of the tools this run may call; null for all. */
  tools: z.array(z.string()).nullable(),
  /** Names of tools that are offered before others; not there: none. */
  pinned_tools: z.array(z.string()).optional(),
  settings: runSettingsSchema.optional(),
  /** Step of the running turn, 1-based; 0 when idle. */
  step: z.number().int(),
  max_steps: z.number().int(),
  error: runErrorSchema.nullable(),
  created_at: z.number(),
  updated_at: z.number(),
  /** Not there: the operator of the first run. */
  owner: runOwnerSchema.optional(),
  /** Not in lists, and not there before the first answer of a model. */
  usage: runUsageSchema.optional(),
  /** Only of a sub-agent's run, which is in no list of runs. */
  parent: runParentSchema.optional(),
  /** Only while a turn runs that is traced. */
  trace: runTraceSchema.optional(),
});
export type RunSummary = z.infer<typeof runSummarySchema>;

/** The newest messages, as many as have room; how many older ones there are, where there are some. */
export const runRecordSchema = runSummarySchema.extend({
  messages: z.array(messageSchema),
  messages_left_out: count.optional(),
});
export type RunRecord = z.infer<typeof runRecordSchema>;

/** A model that can be chosen, as `GET /v1/models` lists it. */
export const modelListingSchema = z.object({
  model: z.string(),
  label: z.string(),
  provider: z.string(),
  /** True for the built-in rehearsal model: it is not an LLM, and is shown as such. */
  rehearsal: z.boolean(),
  images: z.boolean(),
  default: z.boolean(),
  /** False: its server has not answered yet, and is asked again when a run starts; or its key is not set. */
  available: z.boolean().optional(),
  /** It has no tool calling of its own: calls are read from its text. Without it `native`. */
  tool_calling: z.literal('text').optional(),
  /** Tokens that a request and its answer may have together, where the configuration or its server says it. */
  context_tokens: z.number().optional(),
});
export type ModelListing = z.infer<typeof modelListingSchema>;
