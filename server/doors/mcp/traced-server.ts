import {
  type JSONRPCRequest,
  type Result,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { beginMcpRequest, type McpRequestTrace, type Spans } from '../../telemetry/room.ts';
import type { AskedRequest } from './agent-session.ts';

export interface TraceDeps {
  readonly spans: Spans;
  readonly now: () => number;
  readonly sessionId: string | undefined;
}

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/** By the object that the library makes for each request and hands to its handler. */
const traces = new WeakMap<AskedRequest['mcpReq'], McpRequestTrace>();

/** The trace of a request, whose span is exported once it is answered; undefined where nothing is traced. */
export const traceOf = ({ mcpReq }: AskedRequest): McpRequestTrace | undefined =>
  traces.get(mcpReq);

/** A server each of whose requests has a span (TM30). Where nothing is exported it is not used. */
export class TracedServer extends Server {
  readonly #trace: TraceDeps;

  constructor(trace: TraceDeps, ...of: ConstructorParameters<typeof Server>) {
    super(...of);
    this.#trace = trace;
  }

  /** The library's own hook; also called by its constructor, when `#trace` is not there yet. */
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const answer = super._wrapHandler(method, handler);
    return async (request, context) => {
      const trace = this.#begin(request, context);
      traces.set(context.mcpReq, trace);
      try {
        const result = await answer(request, context);
        trace.end({ isError: result.isError === true });
        return result;
      } catch (error) {
        trace.end({ rpcCode: rpcCodeOf(error) });
        throw error;
      }
    };
  }

  #begin({ method, id, params }: JSONRPCRequest, { mcpReq, http }: ServerContext) {
    const { spans, now, sessionId } = this.#trace;
    const tool = method === 'tools/call' ? params?.name : undefined;
    const request = { method, id, tool, meta: mcpReq._meta, headers: http?.req?.headers };
    return beginMcpRequest(spans, { ...request, sessionId }, now());
  }
}

/** JSON-RPC: the server failed. */
const INTERNAL_ERROR = -32_603;

/** The library answers with the same code. */
export function rpcCodeOf(error: unknown): number {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return Number.isSafeInteger(code) ? Number(code) : INTERNAL_ERROR;
}
