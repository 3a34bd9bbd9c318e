import { z } from 'zod';
import { HTTP_ERRORS, httpErrorSchema } from '#lib/protocol/http-error';
import { SESSION_HEADER } from '#lib/protocol/subprotocols';
import { given } from '#lib/util/given';
import { allowedText } from '../doors/room.ts';
import type { RouteDocs } from './route.ts';
import { paramNames } from './route-table.ts';

/** The document of OpenAPI 3.1 that describes the routes, as `/openapi.json` sends it. */
export function describeApi(routes: readonly RouteDocs[], cookieName: string) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Callboard',
      version: '1',
      description: 'Tools on tabs, phones and programs, called by agents, watched by people.',
    },
    // The cookie counts together with the session's key alone.
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        cookie: { type: 'apiKey', in: 'cookie', name: cookieName },
        session: { type: 'apiKey', in: 'header', name: SESSION_HEADER },
      },
    },
    paths,
  };
}

function describeRoute(route: RouteDocs) {
  const { path, id, tag, summary, access, query, headers = {} } = route;
  const body = route.body ?? route.docsBody;
  const fields = query && toJsonSchema(query);
  const parameters = [
    ...paramNames(path).map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...Object.entries(fields?.properties ?? {}).map(([name, schema]) => ({
      name,
      in: 'query',
      required: fields?.required?.includes(name) ?? false,
      schema,
    })),
    ...Object.entries(headers).map(([name, description]) => ({
      name,
      in: 'header',
      required: false,
      description,
      schema: { type: 'string' },
    })),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: access === 'public' ? 'Needs no credential.' : `For: ${allowedText(access)}.`,
    security: access === 'public' ? [] : [{ bearer: [] }, { cookie: [], session: [] }],
    parameters,
    ...given({ requestBody: body && { required: true, content: asJson(body) } }),
    responses: describeResponses(route),
  };
}

function describeResponses({ responses }: RouteDocs) {
  const described = Object.entries(responses).map(([status, { description, schema }]) => [
    status,
    { description, ...given({ content: schema && asJson(schema) }) },
  ]);
  return {
    ...Object.fromEntries(described),
    default: {
      description: `An error. code is one of: ${Object.keys(HTTP_ERRORS).join(', ')}`,
      content: asJson(httpErrorSchema),
    },
  };
}

const asJson = (schema: z.ZodType) => ({ 'application/json': { schema: toJsonSchema(schema) } });

/** Describes what is sent: a field with a default may be absent, and one that is not named may be present. */
function toJsonSchema(schema: z.ZodType) {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    // One spelling of a choice, for readers of the document.
    override({ jsonSchema }) {
      if (jsonSchema.const !== undefined) jsonSchema.enum = [jsonSchema.const];
      delete jsonSchema.const;
    },
  });
  return rest;
}
