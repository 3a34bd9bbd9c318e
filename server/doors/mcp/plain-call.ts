import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isRecord } from '#lib/json/is-record';
import { errorMessage } from '#lib/util/error-message';
import { AgentRequests } from './agent-requests.ts';
import type { McpPost } from './agent-session.ts';
import { type McpServerDeps, serverInfo } from './mcp-server.ts';
import { rpcCodeOf } from './traced-server.ts';

const METHOD = 'tools/call';
const REVISION = '2026-07-28';

/** Most clients send this, and no more: the library would take each such message as it is. */
const plainSchema = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int()]),
  method: z.literal(METHOD),
  params: z.strictObject({
    name: z.string(),
    arguments: z.custom<Record<string, unknown>>(isRecord).default({}),
    _meta: z.strictObject({
      [PROTOCOL_VERSION_META_KEY]: z.literal(REVISION),
      [CLIENT_INFO_META_KEY]: z.strictObject({ name: z.string(), version: z.string() }).optional(),
      [CLIENT_CAPABILITIES_META_KEY]: z.partialRecord(
        z.enum(['elicitation', 'roots', 'sampling']),
        z.strictObject({}),
      ),
    }),
  }),
});
type PlainCall = z.infer<typeof plainSchema>;

/**
 * A call that is no more than most are; undefined for all else, which the library answers: its
 * server of one request costs more than the call (rule MP61).
 */
export function readPlainCall({ body, headers }: McpPost): PlainCall | undefined {
  const isNamed = headers['mcp-method'] === METHOD && headers['mcp-protocol-version'] === REVISION;
  if (!isNamed || headers['content-type'] !== 'application/json') return undefined;
  const { data } = plainSchema.safeParse(body);
  return data?.params.name === headers['mcp-name'] ? data : undefined;
}

export async function answerPlainCall(
  deps: McpServerDeps,
  post: McpPost,
  { id, params }: PlainCall,
): Promise<object> {
  const mcpReq = { id, signal: post.signal, notify: async () => {} };
  try {
    const answer = await new AgentRequests(deps, post, true).callTool(params, { mcpReq });
    const _meta = { ...answer._meta, [SERVER_INFO_META_KEY]: serverInfo(deps) };
    return { jsonrpc: '2.0', id, result: { ...answer, _meta, resultType: 'complete' } };
  } catch (error) {
    return { jsonrpc: '2.0', id, error: { code: rpcCodeOf(error), message: errorMessage(error) } };
  }
}
