import { z } from 'zod';
import { closedObject } from './closed-object.ts';
import { deviceToolSchema } from './device.ts';
import { rejectionsShape } from './tool-spec.ts';

/** MCP servers whose tools are offered here. Only the configuration file names them. Times are Unix seconds. */

/** `waiting`: its connection was lost; `failed`: the last attempt to connect was in vain. Both try again. */
const MCP_SERVER_STATES = ['connecting', 'connected', 'waiting', 'failed', 'stopped'] as const;

const mcpToolSchema = z.object({
  /** It is called so here. */
  name: z.string(),
  /** Its server calls it so. */
  foreign_name: z.string(),
  /** The configuration says this of its calls. */
  effect: z.enum(['allow', 'ask', 'deny']),
  /** The configuration says nothing of it. */
  is_default: z.boolean(),
  /** Its server changed it: it is not called before a person accepts the change. */
  is_withheld: z.boolean(),
});

export const mcpServerSchema = z.object({
  id: z.string(),
  transport: z.enum(['stdio', 'http']),
  /** The program, or the address without its query. */
  target: z.string(),
  state: z.enum(MCP_SERVER_STATES),
  /** While it waits: when it is tried again. */
  next_try_at: z.number().nullable(),
  /** The version of MCP that it speaks. */
  protocol: z.string().nullable(),
  /** The generation of the protocol is `modern` from 2026-07-28 on. */
  era: z.enum(['legacy', 'modern']).nullable(),
  /** It says that it is this. */
  server: z.object({ name: z.string(), version: z.string() }).nullable(),
  last_error: z.object({ message: z.string(), at: z.number() }).nullable(),
  /** The last of what its program wrote to its error output; null for a viewer, and where it has none. */
  stderr_tail: z.string().nullable(),
  tools: z.array(mcpToolSchema),
  /** Changes that wait for a person: the tool as its server has it now, and as it was accepted. */
  changes: z.array(z.object({ tool: deviceToolSchema, before: deviceToolSchema })),
  ...rejectionsShape,
});
export type WireMcpServer = z.infer<typeof mcpServerSchema>;

/** `GET /v1/mcp-servers`, in the order of the configuration file. */
export const mcpServersAnswerSchema = z.object({ servers: z.array(mcpServerSchema) });

/** `POST /v1/mcp-servers/:id/accept`: takes changes over, by the hashes that the person saw. */
export const acceptMcpToolsBodySchema = closedObject({
  tools: z.array(z.string().max(128)).min(1).max(500),
});
