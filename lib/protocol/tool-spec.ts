import { z } from 'zod';

/** Hints as in MCP. They come from the tool's author and are not proof of anything. */
export const toolAnnotationsSchema = z.object({
  title: z.string().max(256).optional(),
  readOnlyHint: z.boolean().optional(),
  destructiveHint: z.boolean().optional(),
  idempotentHint: z.boolean().optional(),
  openWorldHint: z.boolean().optional(),
});
export type ToolAnnotations = z.infer<typeof toolAnnotationsSchema>;

/** A tool as a client registers it. Its name and schema are checked one by one by the registry. */
export const toolSpecSchema = z.object({
  name: z.string(),
  description: z.string('must be text that says what the tool does'),
  /** JSON Schema of the arguments; always an object schema. Over HTTP its name is `schema`. */
  parameters: z.record(
    z.string(),
    z.unknown(),
    'must be a JSON Schema, such as {"type": "object", "properties": {}}; over HTTP it is "schema"',
  ),
  timeout_ms: z.number().optional(),
  display_name: z.string().max(128).optional(),
  annotations: toolAnnotationsSchema.optional(),
});
export type ToolSpec = z.infer<typeof toolSpecSchema>;

export const rejectedToolSchema = z.object({
  name: z.string(),
  code: z.string(),
  message: z.string(),
  /** The message is about this: `keyword` of a schema that is refused for one. */
  params: z.record(z.string(), z.string()).optional(),
});
export type RejectedTool = z.infer<typeof rejectedToolSchema>;

/** The tools of a registration that were refused: the first 64, and how many they are. */
export const rejectionsShape = {
  rejected: z.array(rejectedToolSchema),
  /** Given when there are more than `rejected` lists. */
  rejected_count: z.number().int().positive().optional(),
};

/** A tool as `GET /api/tools` and the watch socket list it. */
export const toolListingSchema = z.object({
  name: z.string(),
  /** The spelling that models are offered. */
  model_name: z.string(),
  /** `server`, `client`, or the kind of another provider of tools. */
  source: z.string(),
  /** Given where `source` does not say it: what is of `server` is trusted, and nothing else. */
  trusted: z.boolean().optional(),
  description: z.string(),
  schema: z.record(z.string(), z.unknown()),
  /** JSON pointers into `schema` of what is not checked: arguments that break it are accepted. */
  unchecked: z.array(z.string()).optional(),
  /** On the watch socket, where a schema over 4 KiB is left out (`schema` is `{}`): its bytes as JSON. */
  schema_bytes: z.number().int().positive().optional(),
  timeout_ms: z.number(),
  display_name: z.string().optional(),
  annotations: toolAnnotationsSchema.optional(),
  /** These serve it now, the one most likely to be asked first; empty for the server's own. */
  clients: z.array(
    z.object({
      client_id: z.string(),
      name: z.string(),
      visible: z.boolean(),
      /** False: it does not answer, and is not asked. */
      responsive: z.boolean().optional(),
      /** It failed to deliver so often in a row, and is not asked until then (Unix seconds). */
      tripped: z.object({ until: z.number(), failures: z.number().int() }).optional(),
    }),
  ),
  /** On the watch socket: how many more clients offer the name than `clients` and `others` have. */
  clients_left_out: z.number().int().positive().optional(),
  /** These offer the name with another schema, so that only `name@client` reaches it. */
  others: z.array(z.object({ client_id: z.string(), name: z.string() })).optional(),
  /** It says whether the asking may call it now, and if not, why. */
  callable: z.boolean(),
  reason: z.string().optional(),
});
export type ToolListing = z.infer<typeof toolListingSchema>;
