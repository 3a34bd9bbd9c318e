import type { z } from 'zod';
import type { Anonymous, Caller } from '../auth/room.ts';
import type { Allowed } from './allowed.ts';
import { checkShape } from './check-shape.ts';
import type { BodySource } from './read-body.ts';
import { readJson } from './read-json.ts';
import type { HttpResponse } from './response.ts';
import type { ParamsOf, PathParams } from './route-table.ts';

/** One request, with what every handler may need. */
export interface RequestContext extends BodySource {
  /** With its `?`, or empty. */
  readonly search: string;
  /** Of the client, also behind a trusted proxy. */
  readonly address: string;
  /** It came by https. */
  readonly isSecure: boolean;
  /**
   * To be awaited before a record is read or made into text that has so many bytes: large ones
   * wait for their turn (rule UN4). Throws `rate_limited` when too many wait.
   */
  makeRoom(bytes: number): Promise<void>;
  /** How many bytes there were, where that was not known at `makeRoom`. */
  resizeRoom(bytes: number): void;
  /** Whether it was made for a large one. */
  isLarge(): boolean;
  /** Aborted when the caller hangs up. Made on first use. */
  signal(): AbortSignal;
}

/** A `public` route needs no credential and looks at none. */
export type Access = Allowed | 'public';

export interface RouteInput<Path extends string, For extends Access, Query, Body> {
  readonly principal: For extends 'public' ? Anonymous : Caller;
  readonly params: Readonly<Record<ParamsOf<Path>, string>>;
  readonly query: Query;
  readonly body: Body;
  /** Of the body as it was sent. */
  readonly bodyBytes: number;
  readonly context: RequestContext;
}

export type ResponseDocs = Readonly<Record<number, { description: string; schema?: z.ZodType }>>;

/** A route as the API reference shows it. */
export interface RouteDocs {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Parts that vary as `:name`. */
  readonly path: string;
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly access: Access;
  readonly query?: z.ZodObject;
  /** Headers that it reads besides those of every request, with what each is for. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: z.ZodType;
  /** For the reference alone, where the handler reads the body itself. */
  readonly docsBody?: z.ZodType;
  readonly responses: ResponseDocs;
}

/** One method and path of the API, without the types of its body and query. */
export interface Route extends RouteDocs {
  run(
    principal: Caller | Anonymous,
    params: PathParams,
    context: RequestContext,
  ): Promise<HttpResponse>;
}

export interface RouteOptions<
  Path extends string,
  For extends Access,
  Query extends z.ZodObject,
  Body extends z.ZodType,
> extends Omit<RouteDocs, 'method' | 'path'> {
  readonly access: For;
  readonly query?: Query;
  readonly body?: Body;
  /** Of the body; by default what a call may have. */
  readonly maxBodyBytes?: number;
  handle(
    input: RouteInput<Path, For, z.output<Query>, z.output<Body>>,
  ): HttpResponse | Promise<HttpResponse>;
}

/** Types `handle` by the schemas, and reads body and query by them before it is called. */
export function defineRoute<
  const Path extends string,
  const For extends Access,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
>(method: RouteDocs['method'], path: Path, options: RouteOptions<Path, For, Query, Body>): Route {
  const { query: querySchema, body: bodySchema } = options;
  type Input = RouteInput<Path, For, z.output<Query>, z.output<Body>>;
  return {
    ...options,
    method,
    path,
    async run(principal, params, context) {
      const query = querySchema && checkShape(querySchema, readQuery(context.search), 'query');
      const json = bodySchema && (await readJson(context, options.maxBodyBytes));
      const body = bodySchema && checkShape(bodySchema, json?.value, 'body');
      // The edge where the erased types come back: the schemas above and the runner have just proved them.
      const input = { principal, params, query, body, bodyBytes: json?.bytes ?? 0, context };
      return options.handle(input as Input);
    },
  };
}

/** An empty value means the same as none: forms and templates send `cursor=`. */
const readQuery = (search: string): Record<string, string> =>
  Object.fromEntries([...new URLSearchParams(search)].filter(([, value]) => value !== ''));
