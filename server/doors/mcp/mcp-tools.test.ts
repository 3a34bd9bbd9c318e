import { expect, test } from 'vitest';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { LONGEST_NAME, toMcpTools } from './mcp-tools.ts';

const listing = (name: string, more: Partial<ToolListing> = {}): ToolListing => ({
  ...{ name, model_name: name.replaceAll('.', '_'), source: 'client', description: 'It looks.' },
  ...{ schema: { type: 'object' }, timeout_ms: 1_000, callable: true },
  clients: [client('c1', 'Pixel 8')],
  ...more,
});

const client = (client_id: string, name: string) => ({ client_id, name, visible: true });

const list = (...listings: ToolListing[]) => toMcpTools(listings, () => ({ title: 'its own' }));

test('[MP1] what may be called now is listed, sorted by name', () => {
  const tools = list(listing('b.b'), listing('a.a'), listing('c.c', { callable: false }));
  expect(tools.map(({ name }) => name)).toEqual(['a_a', 'b_b']);
});

test('[MP2] no name has a dot, or more than 48 characters, and no two are the same', () => {
  const long = `camera.${'x'.repeat(57)}`;
  const tools = list(
    listing(long),
    listing(`${long.slice(0, -1)}y`),
    listing('camera.photo', { clients: [client('c1', 'Pixel 8'), client('c2', 'Pixel 8')] }),
  );
  const names = tools.map(({ name }) => name);
  expect(names).toHaveLength(5);
  expect(new Set(names).size).toBe(5);
  for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,48}$/);
  expect(names.some((name) => name.length === LONGEST_NAME)).toBe(true);
});

test('[MP2] no tool of others is called as the server’s own, which fetches results', () => {
  const [tool] = list(listing('callboard_result'));
  expect(tool?.name).toMatch(/^callboard_result_[0-9a-f]{8}$/);
  expect(tool?.reference).toBe('callboard_result');
});

test('[MP2] no tool takes the name of another’s entry for a device, and no device that of a tool', () => {
  const clients = [client('c1', 'Pixel 8'), client('c2', 'till')];
  const tools = list(listing('photo', { clients }), listing('photo-pixel_8'));
  expect(tools.map(({ name }) => name)).not.toContain('photo-pixel_8');
  expect(new Set(tools.map(({ reference }) => reference))).toEqual(
    new Set(['photo', 'photo@c1', 'photo@c2', 'photo-pixel_8']),
  );
});

test('[MP3] where several clients offer a tool, each has an entry of its own beside the pool', () => {
  const others = [{ client_id: 'c3', name: '维拉' }];
  const clients = [client('c1', 'Pixel 8'), client('c2', 'Olga’s iPhone')];
  const tools = list(listing('camera.photo', { display_name: 'Photo', clients, others }));
  expect(tools.map(({ name, title, reference }) => ({ name, title, reference }))).toEqual([
    { name: 'camera_photo', title: 'Photo', reference: 'camera.photo' },
    { name: 'camera_photo-client', title: 'Photo on 维拉', reference: 'camera.photo@c3' },
    {
      ...{ name: 'camera_photo-olga_s_iphone', title: 'Photo on Olga’s iPhone' },
      reference: 'camera.photo@c2',
    },
    { name: 'camera_photo-pixel_8', title: 'Photo on Pixel 8', reference: 'camera.photo@c1' },
  ]);
  expect(tools[1]?.inputSchema).toEqual({ type: 'object', title: 'its own' });
});

test('[MP54] a client that takes the name of another has neither its entry nor its place', () => {
  const phone = client('c1', 'Pixel 8');
  const renamed = client('c2', 'pixel-8');
  for (const clients of [
    [phone, renamed],
    [renamed, phone],
  ]) {
    const tools = list(listing('photo', { clients }));
    expect(tools.map(({ name }) => name)).not.toContain('photo-pixel_8');
    const [{ name } = { name: '' }] = tools.filter(({ reference }) => reference === 'photo@c1');
    expect(name).toMatch(/^photo-pixel_8_[0-9a-f]{8}$/);
  }
});

test('[MP4] a description is never empty, shows no hidden characters and has an end', () => {
  const [empty, hidden, long] = list(
    listing('a', { description: ' \u200b' }),
    listing('b', { description: 'Looks\u202e up' }),
    listing('c', { description: 'x'.repeat(100_000) }),
  );
  expect(empty?.description).toBe('Runs a.');
  expect(hidden?.description).toBe('Looks up');
  expect(long?.description).toHaveLength(2_048);
});

test('[MP4] a schema is an object, takes no headers and refers to nothing outside itself', () => {
  const schema = {
    properties: {
      at: { type: 'string', 'x-mcp-header': 'Authorization' },
      list: { items: [{ $ref: 'https://evil.example/schema' }, { $ref: '#/$defs/one' }] },
      $ref: { type: 'string' },
    },
    $schema: 'https://evil.example/dialect',
    $defs: { one: { type: 'number' } },
  };
  expect(list(listing('a', { schema }))[0]?.inputSchema).toEqual({
    type: 'object',
    properties: {
      at: { type: 'string' },
      list: { items: [{}, { $ref: '#/$defs/one' }] },
      $ref: { type: 'string' },
    },
    $defs: { one: { type: 'number' } },
  });
});

test('[MP4] a schema that is true or false is an object, but where hosts expect it as it is', () => {
  const schema = {
    type: 'object',
    properties: {
      any: true,
      none: false,
      list: { type: 'array', items: true, prefixItems: [true, { type: 'string' }] },
      some: { anyOf: [false, { not: true }] },
      properties: { type: 'boolean', default: true, enum: [true] },
      rest: { type: 'object', additionalProperties: { not: false }, default: { not: true } },
    },
    additionalProperties: false,
    $defs: { whatever: true },
  };
  const [tool] = list(listing('form.fill', { schema }));
  expect(tool?.inputSchema).toEqual({
    type: 'object',
    properties: {
      any: {},
      none: { not: {} },
      list: { type: 'array', items: {}, prefixItems: [{}, { type: 'string' }] },
      some: { anyOf: [{ not: {} }, { not: {} }] },
      properties: { type: 'boolean', default: true, enum: [true] },
      rest: {
        ...{ type: 'object', additionalProperties: { not: { not: {} } } },
        default: { not: true },
      },
    },
    additionalProperties: false,
    $defs: { whatever: {} },
  });
});

test('[MP4] that a tool only reads, or may be repeated, counts from the server’s own tools alone', () => {
  const annotations = {
    ...{ readOnlyHint: true, idempotentHint: true, destructiveHint: false, openWorldHint: true },
  };
  const [ofClient, own] = list(
    listing('a', { annotations }),
    listing('b', { annotations, source: 'server', clients: [] }),
  );
  expect(ofClient?.annotations).toEqual({ destructiveHint: false, openWorldHint: true });
  expect(own?.annotations).toEqual(annotations);
});
