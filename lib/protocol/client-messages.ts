import { z } from 'zod';
import { callPhaseSchema } from './call-status.ts';
import { progressSchema } from './card.ts';
import { LIMITS } from './limits.ts';
import { LONGEST_TOOL_NAME } from './tool-name.ts';

/** A client sends these on `/ws/client` (contract, section 5). Unknown fields are dropped. */

const id = z.string().min(1).max(128);
const attempt = z.number().int().positive();
/** It came out of a JSON parser, so it is JSON; walking it again would only cost time. */
const anyJson = z.custom<unknown>(
  (value) => value !== undefined,
  'must be given; any JSON will do',
);

const helloSchema = z.object({
  type: z.literal('hello'),
  client_id: id.optional(),
  instance_id: id.optional(),
  name: z.string().max(128).optional(),
  kind: z.enum(['tab', 'phone', 'program']).optional(),
  resume_token: z.string().max(512).optional(),
  journal_epoch: z.string().max(128).optional(),
  known: z
    .array(z.object({ id, attempt, phase: z.enum(['running', 'started', 'done']) }))
    .max(LIMITS.knownCalls)
    .optional(),
  /** Caps of a later protocol are ignored, not refused. */
  caps: z.array(z.string().max(64)).max(32).optional(),
});

const registerToolsSchema = z.object({
  type: z.literal('register_tools'),
  /** Checked one by one, so that a bad one does not take the good ones with it. */
  tools: z.array(z.unknown()).max(LIMITS.toolsPerMessage),
});

const unregisterToolsSchema = z.object({
  type: z.literal('unregister_tools'),
  names: z.array(z.string()).max(LIMITS.toolsPerMessage),
});

const toolCallClaimSchema = z.object({ type: z.literal('tool_call_claim'), id, attempt });

const toolStatusSchema = z.object({
  type: z.literal('tool_status'),
  id,
  attempt: attempt.optional(),
  tip: z.string().max(2_000).optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  progress: progressSchema.optional(),
  preview: z.unknown().optional(),
  /** `device`: a person at the client is being asked. `granted`: the tool works again. */
  phase: callPhaseSchema.extract(['device', 'granted']).optional(),
});

/** A file as a client sends it. */
export type AttachmentUpload = {
  readonly media_type: string;
  readonly name?: string | undefined;
  readonly alt?: string | undefined;
} & ({ readonly data: string } | { readonly blob_id: string });

export const toolResultSchema = z.object({
  type: z.literal('tool_result'),
  id,
  output: anyJson,
  success: z.literal(true).optional(),
  attempt: attempt.optional(),
  display: z.unknown().optional(),
  /** Each is read by itself, as `AttachmentUpload`: an odd one costs itself alone. */
  attachments: z.unknown().optional(),
});

export const toolErrorSchema = z.object({
  type: z.literal('tool_error'),
  id,
  error: z.string(),
  success: z.literal(false).optional(),
  code: z.string().max(64).optional(),
  attempt: attempt.optional(),
});

/** By tool. Every watcher gets them, so there are no more than a client may have tools. */
const permissionsSchema = z
  .record(z.string().max(LONGEST_TOOL_NAME), z.enum(['granted', 'prompt', 'denied']))
  .refine((permissions) => Object.keys(permissions).length <= LIMITS.toolsPerClient, {
    error: `at most ${LIMITS.toolsPerClient} tools`,
  });

export const batterySchema = z.object({ level: z.number().min(0).max(1), charging: z.boolean() });
export type Battery = z.infer<typeof batterySchema>;

const clientStateSchema = z.object({
  type: z.literal('client_state'),
  visibility: z.enum(['visible', 'hidden']).optional(),
  permissions: permissionsSchema.optional(),
  /** A value that makes no sense counts as not given. */
  battery: batterySchema.optional().catch(undefined),
  secure_context: z.boolean().optional(),
  /** A person has just touched this client: pointer, key or focus. */
  touched: z.boolean().optional(),
  /** How long ago that was, when this was sent; a touch is reported late where many come, or none could. Default 0. */
  touched_ago_ms: z.number().nonnegative().optional(),
});

const probeSchema = z.object({ type: z.literal('probe'), nonce: z.string().max(128) });
const probeAckSchema = z.object({ type: z.literal('probe_ack'), nonce: z.string().max(128) });

export const clientMessageSchema = z.discriminatedUnion('type', [
  helloSchema,
  registerToolsSchema,
  unregisterToolsSchema,
  toolCallClaimSchema,
  toolStatusSchema,
  toolResultSchema,
  toolErrorSchema,
  clientStateSchema,
  probeSchema,
  probeAckSchema,
]);
export type ClientMessage = z.infer<typeof clientMessageSchema>;
export type ClientMessageOf<T extends ClientMessage['type']> = Extract<ClientMessage, { type: T }>;
