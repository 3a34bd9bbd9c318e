import { z } from 'zod';
import { AUTONOMY_LEVELS } from './autonomy-level.ts';
import { watchedCallSchema } from './call-record.ts';
import { cardUpdateSchema } from './card.ts';
import { batterySchema } from './client-messages.ts';
import { messageSchema, runRecordSchema, runSummarySchema } from './run.ts';
import { toolListingSchema } from './tool-spec.ts';

/** The watch socket, `/ws/watch` (contract, section 8). */

export const watchRequestSchema = z.object({
  type: z.literal('watch'),
  run_id: z.string().max(128).optional(),
  since: z.number().int().nonnegative().optional(),
  /** Changes of tools and clients come as `tools_changed` and `clients_changed`, not as whole lists. */
  changes: z.boolean().optional(),
  /** A small snapshot has what waits and what is open first; the rest on request, see its `rest`. */
  parts: z.boolean().optional(),
});
export type WatchRequest = z.infer<typeof watchRequestSchema>;

/** Ended calls that a snapshot in parts has not, newest first. */
export const endedRequestSchema = z.object({
  type: z.literal('ended'),
  /** The `rest.ended` of the snapshot, or the `next` of the part before. */
  from: z.string().max(256),
});
export type EndedRequest = z.infer<typeof endedRequestSchema>;

export const endedPartSchema = z.object({
  type: z.literal('ended'),
  calls: z.array(watchedCallSchema),
  /** Where the next part begins; null after the last one. */
  next: z.string().nullable(),
});
export type EndedPart = z.infer<typeof endedPartSchema>;

/** Asks whether the server is there; answered by `probe_ack` with the same nonce. */
export const watchProbeSchema = z.object({
  type: z.literal('probe'),
  nonce: z.string().max(128),
});
export type WatchProbe = z.infer<typeof watchProbeSchema>;
export type WatchProbeAck = { readonly type: 'probe_ack'; readonly nonce: string };

export const clientListingSchema = z.object({
  client_id: z.string(),
  name: z.string(),
  kind: z.enum(['tab', 'phone', 'program']),
  connected: z.boolean(),
  visible: z.boolean(),
  /** False when it does not answer probes: it is shown, and not offered calls. */
  responsive: z.boolean(),
  caps: z.array(z.string()),
  tools: z.array(z.string()),
  permissions: z.record(z.string(), z.string()).optional(),
  secure_context: z.boolean().optional(),
  connected_at: z.number(),
  /** Tools whose calls it failed to deliver, and is not offered until then (Unix seconds). */
  tripped: z
    .array(z.object({ tool: z.string(), until: z.number(), failures: z.number().int() }))
    .optional(),
  /** It reported it so: from 0 to 1. */
  battery: batterySchema.optional(),
  /** Milliseconds from the last probe to the answer of its program. */
  latency_ms: z.number().int().nonnegative().optional(),
  /** One that was paired has it: `GET /v1/devices/:id`. */
  device_id: z.string().optional(),
});
export type ClientListing = z.infer<typeof clientListingSchema>;

export const approvalListingSchema = z.object({
  tool_call_id: z.string(),
  run_id: z.string(),
  tool_name: z.string(),
  reason: z.string(),
  expires_at: z.number(),
  /** It is a question, which a person answers in this way. */
  question: z.string().optional(),
  /** The same for calls that one decision decides. */
  key: z.string().optional(),
  /** `operator`, `agent:<name>`, `run:<run id>`. */
  requested_by: z.string().optional(),
});
export type ApprovalListing = z.infer<typeof approvalListingSchema>;

const seq = z.number().int().nonnegative();
const count = z.number().int().positive().optional();

export const snapshotSchema = z.object({
  type: z.literal('snapshot'),
  seq,
  /** One without room for its messages has none, and their number: `GET /v1/runs/:id`. */
  runs: z.array(runRecordSchema),
  /** Newest last. */
  calls: z.array(watchedCallSchema),
  tools: z.array(toolListingSchema),
  clients: z.array(clientListingSchema),
  approvals: z.array(approvalListingSchema),
  /**
   * How many had no room, by list: the text of a snapshot has at most 1 MiB. Of calls the newest
   * are in it, open ones first; the rest is at `GET /v1/tool_calls`.
   */
  left_out: z
    .object({ runs: count, calls: count, tools: count, clients: count, approvals: count })
    .optional(),
  /**
   * A snapshot in parts says that there is more. `ended`: calls that have ended, by `{type: "ended",
   * from}`. `snapshot`: also of what is open something is shortened or left out; a request without
   * `parts` brings all.
   */
  /** It says what of pairing waits for a person, as in the event `devices`. */
  devices: z.object({ asking: z.number(), waiting: z.number() }).optional(),
  rest: z
    .union([z.object({ ended: z.string() }), z.object({ snapshot: z.literal(true) })])
    .optional(),
});
export type Snapshot = z.infer<typeof snapshotSchema>;

export const watchEventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('call'),
    seq,
    tool_call_id: z.string(),
    run_id: z.string(),
    update: cardUpdateSchema,
  }),
  z.object({ type: z.literal('run'), seq, run: runSummarySchema }),
  z.object({ type: z.literal('message'), seq, run_id: z.string(), message: messageSchema }),
  /** Text appended to the last part of that kind; `index` is the part's place in the message. */
  z.object({
    type: z.literal('message_delta'),
    seq,
    run_id: z.string(),
    message_id: z.string(),
    index: z.number().int().nonnegative(),
    part: z.enum(['text', 'reasoning']),
    delta: z.string(),
  }),
  z.object({ type: z.literal('tools'), seq, tools: z.array(toolListingSchema), left_out: count }),
  z.object({
    type: z.literal('clients'),
    seq,
    clients: z.array(clientListingSchema),
    left_out: count,
  }),
  /** It has what is new of tools, in place of the whole list, for a watcher that asked for `changes`. */
  z.object({
    type: z.literal('tools_changed'),
    seq,
    /** Each in place of the one of its name. */
    tools: z.array(toolListingSchema),
    /** Names that no client offers any more. */
    removed: z.array(z.string()),
    /** By name of a tool that is else as it was: clients that offer it now, with its schema. */
    joined: z.record(z.string(), z.array(z.string())),
    /** By name of such a tool: the client that is asked first now. */
    first: z.record(z.string(), z.string()),
  }),
  /** The same of clients: their rows are what the `clients` of tools say of them. */
  z.object({
    type: z.literal('clients_changed'),
    seq,
    /** All rows of each client that is named, in place of those before. */
    clients: z.array(clientListingSchema),
    /** Ids of clients that have left. */
    removed: z.array(z.string()),
  }),
  z.object({
    type: z.literal('approval'),
    seq,
    tool_call_id: z.string(),
    run_id: z.string(),
    /** Null once it is decided. */
    approval: approvalListingSchema.nullable(),
  }),
  /** How much agents do without a person was set: for all runs, or for the one of `of_run`. */
  z.object({
    type: z.literal('autonomy'),
    seq,
    of_run: z.string().nullable(),
    /** Null: the run has none of its own any more. */
    level: z.enum(AUTONOMY_LEVELS).nullable(),
    set_at: z.number(),
  }),
  /** Something of pairings or devices changed: `GET /v1/pairings`, `GET /v1/devices`. */
  z.object({
    type: z.literal('devices'),
    seq,
    /** How many pairings wait for a person. */
    asking: z.number().int().nonnegative(),
    /** How many devices have tools that wait for a person. */
    waiting: z.number().int().nonnegative(),
  }),
]);
export type WatchEvent = z.infer<typeof watchEventSchema>;

/** An event before the bus gave it its place in the order. */
export type WatchEventBody = WatchEvent extends infer E
  ? E extends WatchEvent
    ? Omit<E, 'seq'>
    : never
  : never;

export const watchServerMessageSchema = z.union([
  snapshotSchema,
  watchEventSchema,
  z.object({ type: z.literal('batch'), events: z.array(watchEventSchema) }),
  endedPartSchema,
  z.object({ type: z.literal('error'), code: z.string(), message: z.string() }),
]);
export type WatchServerMessage = z.infer<typeof watchServerMessageSchema>;
