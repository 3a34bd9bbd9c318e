import { describe, expect, test } from 'vitest';
import { fieldsOf, readDocument, typeOf } from './api-document.ts';
import { curlExample, exampleOf } from './operation-view.tsx';

const body = {
  type: 'object',
  properties: { run_id: { type: 'string' }, args: {}, wait_ms: { type: 'number' } },
  required: ['run_id'],
};

const document = {
  paths: {
    '/v1/tools/{name}/invoke': {
      post: {
        operationId: 'invokeTool',
        tags: ['tools'],
        summary: 'Call a tool',
        security: [{ bearer: [] }],
        parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
        requestBody: { content: { 'application/json': { schema: body } } },
        responses: { 202: { description: 'Recorded' } },
      },
    },
    '/healthz': { get: { operationId: 'isAlive', tags: ['system'], security: [], responses: {} } },
  },
};

describe('readDocument', () => {
  test('groups operations and keeps their order', () => {
    const groups = readDocument(document);
    expect(groups.map(({ name }) => name)).toEqual(['tools', 'system']);
    expect(groups[0]?.operations[0]).toMatchObject({
      id: 'invokeTool',
      method: 'POST',
      open: false,
      parameters: [{ name: 'name', place: 'path', required: true, type: 'string' }],
      answers: [{ status: '202', description: 'Recorded', schema: undefined }],
    });
    expect(groups[1]?.operations[0]?.open).toBe(true);
  });

  test.each([null, [], 'x', {}, { paths: { '/x': null } }])('%j has no operations', (odd) => {
    expect(readDocument(odd)).toEqual([]);
  });
});

test.each([
  [{ type: 'string' }, 'string'],
  [{ type: ['number', 'null'] }, 'number | null'],
  [{ enum: ['yes', 'no'] }, '"yes" | "no"'],
  [{ type: 'array', items: { type: 'string' } }, 'string[]'],
  [{ anyOf: [{ type: 'string' }, { type: 'string' }, { type: 'null' }] }, 'string | null'],
  [{}, 'any'],
])('the type of %j is %s', (schema, type) => expect(typeOf(schema)).toBe(type));

test('a list shows the fields of its items', () => {
  expect(fieldsOf({ type: 'array', items: body }).map(([name]) => name)).toEqual([
    'run_id',
    'args',
    'wait_ms',
  ]);
});

test('an example has what is required and nothing else', () => {
  expect(exampleOf(body)).toEqual({ run_id: 'text' });
  expect(exampleOf({ anyOf: [{ type: 'string' }, { type: 'null' }] })).toBe('text');
});

test('the command can be pasted', () => {
  const [tools, system] = readDocument(document).map(({ operations }) => operations[0]);
  if (!tools || !system) throw new Error('no operations');
  expect(curlExample(tools, 'http://localhost:3000')).toBe(
    [
      "curl -X POST 'http://localhost:3000/v1/tools/{name}/invoke' \\",
      '  -H "Authorization: Bearer $CALLBOARD_TOKEN" \\',
      "  -H 'Content-Type: application/json' \\",
      `  -d '{"run_id":"text"}'`,
    ].join('\n'),
  );
  expect(curlExample(system, 'http://localhost:3000')).toBe("curl 'http://localhost:3000/healthz'");
});
