import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { Principal } from '../auth/principal.ts';
import type { Answer } from './answer.ts';
import { checkShape } from './check-shape.ts';
import type { ParamsOf, PathParams } from './path-pattern.ts';
import { readJson } from './read-json.ts';

/** One request on its way through, with what every handler may need. */
export interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** With its `?`, or empty. */
  readonly search: string;
  /** Of the peer. */
  readonly address: string;
  /** Aborted when the caller hangs up. Made on first use. */
  signal(): AbortSignal;
}

export interface OperationInput<Path extends string, Query, Body> {
  readonly principal: Principal;
  readonly params: Readonly<Record<ParamsOf<Path>, string>>;
  readonly query: Query;
  readonly body: Body;
  /** Of the body as it was sent. */
  readonly bodyBytes: number;
  readonly exchange: Exchange;
}

export type AnswerDocs = Readonly<Record<number, { description: string; schema?: z.ZodType }>>;

/** What the API reference tells of an operation. */
export interface OperationDocs {
  readonly method: 'GET' | 'POST';
  /** Parts that vary as `:name`. */
  readonly path: string;
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  /** Who may ask; `open` for the doors, which need no credential. */
  readonly access: readonly Principal['kind'][] | 'open';
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** For the reference alone, where the handler reads the body itself. */
  readonly docsBody?: z.ZodType;
  readonly answers: AnswerDocs;
}

/** One method and path of the API, as the adapters run it: types of body and query forgotten. */
export interface Operation extends OperationDocs {
  run(principal: Principal, params: PathParams, exchange: Exchange): Promise<Answer>;
}

/** Who asks at an open door. It may do nothing, should a handler ever wonder. */
export const NOBODY: Principal = { kind: 'agent', name: 'nobody', tools: [] };

export interface OperationOptions<
  Path extends string,
  Query extends z.ZodObject,
  Body extends z.ZodType,
> extends OperationDocs {
  readonly path: Path;
  readonly query?: Query;
  readonly body?: Body;
  handle(input: OperationInput<Path, z.output<Query>, z.output<Body>>): Answer | Promise<Answer>;
}

/** Types `handle` by the schemas, and reads body and query by them before it is called. */
export function defineOperation<
  const Path extends string,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
>(options: OperationOptions<Path, Query, Body>): Operation {
  const { query: querySchema, body: bodySchema } = options;
  return {
    ...options,
    async run(principal, params, exchange) {
      const query = querySchema && checkShape(querySchema, readQuery(exchange.search), 'query');
      const json = bodySchema && (await readJson(exchange.incoming));
      const body = bodySchema && checkShape(bodySchema, json?.value, 'body');
      // The edge where the erased types come back: the schemas above have just proved them.
      const input = { principal, params, query, body, bodyBytes: json?.bytes ?? 0, exchange };
      return options.handle(input as OperationInput<Path, z.output<Query>, z.output<Body>>);
    },
  };
}

/** An empty value means the same as none: forms and templates send `cursor=`. */
const readQuery = (search: string): Record<string, string> =>
  Object.fromEntries([...new URLSearchParams(search)].filter(([, value]) => value !== ''));
