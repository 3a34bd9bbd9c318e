import type { z } from 'zod';
import type { Agent, Anonymous, Caller } from '../auth/room.ts';
import type { Allowed, PROGRAMS } from '../doors/room.ts';
import type { BodySource } from './read-body.ts';
import { checkShape, readJson } from './read-body.ts';
import type { HttpResponse } from './response.ts';
import type { ParamsOf, PathParams } from './route-table.ts';

/** One request, with what every handler may need. */
export interface RequestContext extends BodySource {
  /** It has its `?`, or is empty. */
  readonly search: string;
  /** The client's address, also behind a trusted proxy. */
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
  /** Room was made for a large one. */
  isLarge(): boolean;
  /** Aborted when the caller hangs up. Made on first use. */
  signal(): AbortSignal;
}

/** A `public` route needs no credential and looks at none. */
export type Access = Allowed | 'public';

type CallerOf<For extends Access> = For extends 'public'
  ? Anonymous
  : For extends typeof PROGRAMS
    ? Agent
    : Caller;

export interface RouteInput<Path extends string, For extends Access, Query, Body> {
  readonly principal: CallerOf<For>;
  readonly params: Readonly<Record<ParamsOf<Path>, string>>;
  readonly query: Query;
  readonly body: Body;
  /** The size of the body as it was sent. */
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

/** What a route answers a request with: its words and shape, and its status where that is not 200. */
type Answers<Answer extends z.ZodType> = readonly [
  description: string,
  schema: Answer,
  status?: number,
];

type RouteOptions<Input, Query, Body, Answer extends z.ZodType> = Omit<
  RouteDocs,
  'method' | 'path' | 'tag' | 'access' | 'query' | 'body' | 'responses'
> & {
  readonly query?: Query;
  readonly body?: Body;
  /** The body's largest size; by default that of a call's. */
  readonly maxBodyBytes?: number;
} & (
    | {
        readonly answers: Answers<Answer>;
        handle(input: Input): z.input<Answer> | Promise<z.input<Answer>>;
      }
    | {
        readonly responses: ResponseDocs;
        handle(input: Input): HttpResponse | Promise<HttpResponse>;
      }
  );

/**
 * Makes the routes of one part of the reference. `handle` is typed by the schemas, and called with
 * body and query as they read them. What it returns is sent as JSON where the route has `answers`.
 */
export const routesOf =
  (tag: string) =>
  <
    const Path extends string,
    const For extends Access,
    Query extends z.ZodObject = z.ZodObject,
    Body extends z.ZodType = z.ZodType,
    Answer extends z.ZodType = z.ZodType,
  >(
    method: RouteDocs['method'],
    path: Path,
    options: { readonly access: For } & RouteOptions<
      RouteInput<Path, For, z.output<Query>, z.output<Body>>,
      Query,
      Body,
      Answer
    >,
  ): Route => ({
    ...options,
    tag,
    method,
    path,
    responses: 'answers' in options ? responsesOf(options.answers) : options.responses,
    async run(principal, params, context) {
      const { query: querySchema, body: bodySchema } = options;
      const query = querySchema && checkShape(querySchema, readQuery(context.search), 'query');
      const json = bodySchema && (await readJson(context, options.maxBodyBytes));
      const body = bodySchema && checkShape(bodySchema, json?.value, 'body');
      // The edge where the erased types come back: the schemas above and the runner have just proved them.
      const input = {
        principal,
        params,
        query,
        body,
        bodyBytes: json?.bytes ?? 0,
        context,
      } as RouteInput<Path, For, z.output<Query>, z.output<Body>>;
      if ('responses' in options) return options.handle(input);
      return { status: options.answers[2] ?? 200, json: await options.handle(input) };
    },
  });

const responsesOf = ([description, schema, status = 200]: Answers<z.ZodType>): ResponseDocs => ({
  [status]: { description, schema },
});

/** An empty value means the same as none: forms and templates send `cursor=`. */
const readQuery = (search: string): Record<string, string> =>
  Object.fromEntries([...new URLSearchParams(search)].filter(([, value]) => value !== ''));
