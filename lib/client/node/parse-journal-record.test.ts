import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { toolErrorSchema, toolResultSchema } from '../../protocol/client-messages.ts';
import { parseJournalRecord } from './journal-file.ts';

const uploadSchema = z.intersection(
  z.object({
    media_type: z.string().max(128),
    name: z.string().max(256).optional(),
    alt: z.string().max(2_000).optional(),
  }),
  z.union([z.object({ data: z.string() }), z.object({ blob_id: z.string().max(128) })]),
);

/** What was put, by the schemas of the wire, which takes each file by itself. */
const recordSchema = z.union([
  z.object({ epoch: z.string().min(1) }),
  z.object({
    put: z.object({
      id: z.string(),
      attempt: z.number(),
      tool: z.string(),
      repeatable: z.boolean(),
      answer: z
        .union([
          toolResultSchema.extend({ attachments: z.array(uploadSchema).max(8).optional() }),
          toolErrorSchema,
        ])
        .nullable(),
    }),
  }),
  z.object({ delete: z.string() }),
]);

const upload = { media_type: 'image/png', data: 'AA==', name: 'n', alt: 'a' };
const stored = { media_type: 'image/png', blob_id: 'b' };
const result = { type: 'tool_result', id: 'tc_1', output: null, success: true, attempt: 1 };
const error = { type: 'tool_error', id: 'tc_1', error: 'e', success: false, code: 'c', attempt: 1 };
const put = { id: 'tc_1', attempt: 1, tool: 't', repeatable: true, answer: null };
const RECORDS: readonly Record<string, unknown>[] = [
  { epoch: 'e' },
  { delete: 'tc_1' },
  { put },
  { put: { ...put, answer: error } },
  { put: { ...put, answer: { ...result, display: 1, attachments: [upload, stored] } } },
];

test.each(RECORDS)('[CL21] %j is read as it was written', (record) => {
  expect(parseJournalRecord(record)).toEqual(record);
});

test.each([
  { put: { ...put, answer: { type: 'tool_result', id: 'tc_1' } } },
  { put: { ...put, answer: { ...error, type: 'tool_status' } } },
  { put: { ...put, tool: undefined } },
  { epoch: '' },
  [],
  null,
])('[CL23] %j is not a record', (value) => {
  expect(parseJournalRecord(value)).toBeUndefined();
});

/** Values that fit somewhere, and not elsewhere. */
const value = fc.oneof(
  fc.constantFrom(undefined, null, 0, 1, 1.5, -1, '', true, false, [], {}),
  fc.constantFrom('x'.repeat(64), 'x'.repeat(65), 'x'.repeat(128), 'x'.repeat(129)),
  fc.constantFrom([upload], [stored], [{ ...upload, name: 1 }], [{ media_type: 'm' }], [1]),
  fc.constant(Array.from({ length: 9 }, () => stored)),
  fc.jsonValue(),
);

/** A record of which one field, at any depth, has another value. */
const damaged = fc
  .record({ record: fc.constantFrom(...RECORDS), at: fc.nat(40), value })
  .map(({ record, at, value }) => replaceField(record, at, value));

function replaceField(record: Record<string, unknown>, at: number, value: unknown): unknown {
  const paths = pathsIn(record);
  const [path = []] = paths.slice(at % paths.length);
  const copy = structuredClone(record);
  let parent: Record<string, unknown> = copy;
  for (const key of path.slice(0, -1)) parent = parent[key] as Record<string, unknown>;
  parent[path.at(-1) ?? ''] = value;
  return copy;
}

function pathsIn(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    [key],
    ...pathsIn(inner).map((path) => [key, ...path]),
  ]);
}

test('[CL23] a record is read if and only if it fits the schemas of the wire', () => {
  fc.assert(
    fc.property(fc.oneof(damaged, fc.jsonValue()), (given) => {
      const json = JSON.parse(JSON.stringify(given) ?? 'null');
      expect(parseJournalRecord(json) !== undefined).toBe(recordSchema.safeParse(json).success);
    }),
    { numRuns: 3_000 },
  );
});
