import { z } from 'zod';
import { PROTOCOL } from './subprotocols.ts';
import { rejectionsShape } from './tool-spec.ts';

/** The server sends these on `/ws/client` (contract, section 5). */

export { PROTOCOL };

export const resultRejectionCodeSchema = z.enum([
  'unknown_call',
  'not_your_call',
  'stale_attempt',
  'not_granted',
  'conflict',
  'result_invalid',
  'result_too_large',
]);
export type ResultRejectionCode = z.infer<typeof resultRejectionCodeSchema>;

const welcomeSchema = z.object({
  type: z.literal('welcome'),
  client_id: z.string(),
  resume_token: z.string(),
  resumed: z.boolean(),
  heartbeat_ms: z.number(),
  limits: z.record(z.string(), z.number()),
  forget: z.array(z.string()),
  cancel: z.array(z.string()),
  protocol: z.literal(PROTOCOL),
});

const toolsRegisteredSchema = z.object({
  type: z.literal('tools_registered'),
  count: z.number(),
  registered: z.number(),
  ...rejectionsShape,
  /** A device is told of tools on which a person decided meanwhile. It is no reply then. */
  decided: z.array(z.string()).optional(),
});

export const toolCallRequestSchema = z.object({
  type: z.literal('tool_call_request'),
  id: z.string(),
  name: z.string(),
  args: z.record(z.string(), z.unknown()),
  run_id: z.string(),
  attempt: z.number(),
  timeout_ms: z.number(),
  /** The caller: `operator`, `operator:<name>`, `agent:<name>`, `run:<run id>`, `device:<client id>`. */
  requested_by: z.string().optional(),
  /** The span of the call, by W3C Trace Context: what the tool does may stand below it. */
  traceparent: z.string().optional(),
});

export const serverMessageSchema = z.discriminatedUnion('type', [
  welcomeSchema,
  toolsRegisteredSchema,
  toolCallRequestSchema,
  z.object({
    type: z.literal('tool_call_granted'),
    id: z.string(),
    attempt: z.number(),
    remaining_ms: z.number(),
  }),
  z.object({
    type: z.literal('tool_call_refused'),
    id: z.string(),
    attempt: z.number(),
    reason: z.string(),
  }),
  z.object({ type: z.literal('tool_call_cancel'), id: z.string(), reason: z.string() }),
  z.object({
    type: z.literal('result_acknowledged'),
    id: z.string(),
    disposition: z.enum(['accepted', 'duplicate', 'late']),
  }),
  z.object({
    type: z.literal('result_rejected'),
    id: z.string(),
    code: resultRejectionCodeSchema,
    message: z.string(),
    final: z.literal(true),
  }),
  z.object({ type: z.literal('probe'), nonce: z.string() }),
  z.object({ type: z.literal('probe_ack'), nonce: z.string() }),
  z.object({
    type: z.literal('error'),
    code: z.string(),
    message: z.string(),
    id: z.string().optional(),
  }),
]);
export type ServerMessage = z.infer<typeof serverMessageSchema>;
export type ServerMessageOf<T extends ServerMessage['type']> = Extract<ServerMessage, { type: T }>;

export { CLOSE } from './close-codes.ts';
