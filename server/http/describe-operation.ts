import type { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import { HTTP_ERRORS, httpErrorSchema } from '#lib/protocol/http-error';
import { SESSION_HEADER } from '#lib/protocol/subprotocols';
import type { Operation } from './operation.ts';

type RouteConfig = Parameters<typeof createRoute>[0];

export const OPENAPI_HEAD = {
  openapi: '3.1.0',
  info: {
    title: 'Callboard',
    version: '1',
    description: 'Tools on tabs, phones and programs, called by agents, watched by people.',
  },
};

/** The cookie counts together with the session's key alone. */
export const securitySchemes = (cookieName: string) =>
  ({
    bearer: { type: 'http', scheme: 'bearer' },
    cookie: { type: 'apiKey', in: 'cookie', name: cookieName },
    session: { type: 'apiKey', in: 'header', name: SESSION_HEADER },
  }) as const;

const asJson = (schema: z.ZodType) => ({ 'application/json': { schema } });

/** An operation as the OpenAPI registry wants it. */
export function describeOperation(operation: Operation): RouteConfig {
  const { method, path, id, tag, summary, access } = operation;
  return {
    method: method === 'GET' ? 'get' : 'post',
    path: path.replaceAll(/:(\w+)/g, '{$1}'),
    operationId: id,
    tags: [tag],
    summary,
    description: access === 'open' ? 'Needs no credential.' : `For: ${access.join(', ')}.`,
    security: access === 'open' ? [] : [{ bearer: [] }, { cookie: [], session: [] }],
    request: describeRequest(operation),
    responses: describeAnswers(operation),
  };
}

function describeRequest({
  path,
  query,
  body,
  docsBody,
}: Operation): NonNullable<RouteConfig['request']> {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const documented = body ?? docsBody;
  return {
    ...(names.length > 0
      ? { params: z.object(Object.fromEntries(names.map((name) => [name, z.string()]))) }
      : {}),
    ...(query ? { query } : {}),
    ...(documented ? { body: { content: asJson(documented), required: true } } : {}),
  };
}

function describeAnswers({ answers }: Operation): RouteConfig['responses'] {
  const given = Object.entries(answers).map(([status, { description, schema }]) => [
    status,
    schema ? { description, content: asJson(schema) } : { description },
  ]);
  const codes = Object.keys(HTTP_ERRORS).join(', ');
  return {
    ...Object.fromEntries(given),
    default: {
      description: `An error. code is one of: ${codes}`,
      content: asJson(httpErrorSchema),
    },
  };
}
