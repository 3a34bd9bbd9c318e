import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { PROTOCOL } from './subprotocols.ts';

/**
 * The history of the wire, newest last, with fingerprints of its shapes. Who changes a shape appends
 * a line: under the same protocol where what older peers send is still read and what they are sent
 * still makes sense to them (`docs/additions.md`), else under the next one.
 */
const VERSIONS = [
  {
    protocol: 'callboard.v1',
    change: 'the contract and its additions, when the shapes were pinned',
    shapes: {
      client: 'bea224c9ca4f6e57',
      server: 'd7674344e6c56dd9',
      watch: 'c355d4232838fa32',
      http: '9ec0416169bd4a8a',
    },
  },
  {
    protocol: 'callboard.v1',
    change: 'what of a tool’s schema is not checked is named',
    shapes: {
      client: 'bea224c9ca4f6e57',
      server: 'd7674344e6c56dd9',
      watch: 'e19c65ad2e4a947d',
      http: '7ae96b6369765fc9',
    },
  },
  {
    protocol: 'callboard.v1',
    change: 'an always can be bound to arguments and to a number of calls; cards name its rule',
    shapes: {
      client: 'bea224c9ca4f6e57',
      server: 'd7674344e6c56dd9',
      watch: '218e1ca5869048c5',
      http: '11c0f1f41da9f9a1',
    },
  },
];

/** Messages of the sockets by who sends them; every other module is of the HTTP API. */
const GROUPS: Readonly<Record<string, keyof Shapes>> = {
  'client-messages.ts': 'client',
  'server-messages.ts': 'server',
  'watch-messages.ts': 'watch',
};

type Shapes = (typeof VERSIONS)[number]['shapes'];

test('the shapes of the wire are those of the newest line of its history', async () => {
  const newest = VERSIONS.at(-1);
  expect(newest?.protocol).toBe(PROTOCOL);
  expect(await shapesNow()).toEqual(newest?.shapes);
});

test('a field more, another bound and another type are other shapes', () => {
  const shape = z.object({ name: z.string().max(5) });
  const others = [
    shape.extend({ more: z.string().optional() }),
    z.object({ name: z.string().max(6) }),
    z.object({ name: z.number() }),
  ];
  const prints = [shape, ...others].map((one) => fingerprint([['shape', one]]));
  expect(new Set(prints).size).toBe(4);
  expect(fingerprint([['shape', z.object({ name: z.string().max(5) })]])).toBe(prints[0]);
});

async function shapesNow(): Promise<Shapes> {
  const found: Record<keyof Shapes, [string, z.ZodType][]> = {
    client: [],
    server: [],
    watch: [],
    http: [],
  };
  const files = readdirSync(import.meta.dirname).filter((file) => /^[a-z-]+\.ts$/.test(file));
  for (const file of files.sort()) {
    const module: Record<string, unknown> = await import(join(import.meta.dirname, file));
    for (const [name, value] of Object.entries(module)) {
      if (value instanceof z.ZodType) found[GROUPS[file] ?? 'http'].push([name, value]);
    }
  }
  for (const schemas of Object.values(found)) expect(schemas.length).toBeGreaterThan(0);
  const { client, server, watch, http } = found;
  return {
    client: fingerprint(client),
    server: fingerprint(server),
    watch: fingerprint(watch),
    http: fingerprint(http),
  };
}

/** Of what is accepted: functions that check or change a value have no shape. */
function fingerprint(schemas: readonly (readonly [string, z.ZodType])[]): string {
  const texts = schemas.map(([name, schema]) => {
    const shape = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    return `${name} ${JSON.stringify(shape)}\n`;
  });
  return createHash('sha256').update(texts.sort().join('')).digest('hex').slice(0, 16);
}
