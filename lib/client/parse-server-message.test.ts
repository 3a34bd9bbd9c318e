import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isRecord } from '../json/is-record.ts';
import { serverMessageSchema } from '../protocol/server-messages.ts';
import { parseServerMessage } from './connection.ts';
import { arbitraryOf, jsonObject } from './testing/zod-arbitrary.ts';

const valid = arbitraryOf(serverMessageSchema);

/**
 * What the schema makes of a frame, after its way over the wire. A trace is for programs that
 * export spans: this client reads none.
 */
function bySchema(frame: unknown): unknown {
  const sent: unknown = JSON.parse(wire(frame));
  if (isRecord(sent) && sent.type === 'tool_call_request') delete sent.traceparent;
  const read = serverMessageSchema.safeParse(sent);
  return read.success ? read.data : undefined;
}

/** `-0` has no spelling of its own in JSON; keys whose value is undefined are not sent. */
const wire = (frame: unknown): string => JSON.stringify(frame);

const hold = (frames: fc.Arbitrary<unknown>, numRuns: number) =>
  fc.assert(
    fc.property(frames, (frame) => {
      const [read, wanted] = [parseServerMessage(wire(frame)), bySchema(frame)];
      // Not `toStrictEqual`, which takes a field named `constructor` for the type.
      if (!isDeepStrictEqual(read, wanted)) expect(read).toBe(wanted);
    }),
    { numRuns },
  );

test('[CL14] every message of the protocol is read as its schema reads it', () => {
  for (const one of serverMessageSchema.options) {
    const frames = arbitraryOf(one);
    fc.assert(
      fc.property(frames, (frame) => {
        expect(parseServerMessage(wire(frame))).toMatchObject({ type: one.shape.type.value });
      }),
      { numRuns: 50 },
    );
    hold(frames, 100);
  }
});

/** Values that are right somewhere, and wrong elsewhere. */
const values = fc.oneof(
  fc.constantFrom<unknown[]>(null, 0, 1, 1.5, -1, '', 'late', 'conflict', true, false, [], {}),
  fc.constantFrom<unknown[]>(['x'], [1], { a: 1 }, [{ name: 'a', code: 'b', message: 'c' }]),
  fc.jsonValue({ maxDepth: 2 }),
  jsonObject(fc.jsonValue({ maxDepth: 1 })),
);

type Change = (key: string | number, at: Record<string, unknown>, value: unknown) => void;
const CHANGES: readonly Change[] = [
  (key, at, value) => void Reflect.defineProperty(at, key, { ...OWN, value }),
  (key, at) => void Reflect.deleteProperty(at, key),
  (_key, at, value) => void Reflect.defineProperty(at, 'unknown', { ...OWN, value }),
  (_key, at, value) => void Reflect.defineProperty(at, '__proto__', { ...OWN, value }),
  (key, at) => void Reflect.defineProperty(at, key, { ...OWN, value: [at[key]] }),
];
const OWN = { enumerable: true, configurable: true, writable: true };

/** A message that is damaged in one place, at any depth. */
const damaged = fc
  .record({
    message: valid,
    at: fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
    change: fc.constantFrom(...CHANGES),
    value: values,
  })
  .map(({ message, at, change, value }) => {
    const copy: Record<string, unknown> = JSON.parse(wire(message));
    let place = copy;
    for (const [depth, choice] of at.entries()) {
      const keys = Object.keys(place);
      const key = keys[choice % Math.max(1, keys.length)] ?? 'type';
      const inner = place[key];
      const isDeeper = typeof inner === 'object' && inner !== null;
      if (isDeeper && depth < at.length - 1) place = inner as Record<string, unknown>;
      else {
        change(key, place, value);
        break;
      }
    }
    return copy;
  });

test('[CL14] a damaged message is taken if and only if its schema takes it, with the same value', () => {
  hold(damaged, 5_000);
});

test('[CL14] so is any other frame', () => {
  hold(fc.oneof(fc.jsonValue(), jsonObject(values)), 1_000);
});

test('[CL14] unknown fields are left out, at any depth', () => {
  const rejected = { name: 'a', code: 'b', message: 'c', params: { keyword: 'k' } };
  const message = { type: 'tools_registered', count: 2, registered: 1, rejected: [rejected] };
  const frame = { ...message, later: 1, rejected: [{ ...rejected, later: 1 }] };
  expect(parseServerMessage(JSON.stringify(frame))).toEqual(message);
});

test.each([
  [
    'a number without an end',
    '{"type":"tool_call_granted","id":"a","attempt":1,"remaining_ms":1e999}',
  ],
  ['a type that every object has', '{"type":"constructor"}'],
  ['no JSON', '{'],
  ['a binary frame', new ArrayBuffer(1)],
])('[CL14] %s is no message', (_what, frame) => {
  expect(parseServerMessage(frame)).toBeUndefined();
});

test('[CL14] arguments keep every key but the one that would change the object', () => {
  const request = { type: 'tool_call_request', id: 'a', name: 'b', run_id: 'c' };
  const frame = JSON.stringify({ ...request, attempt: 1, timeout_ms: 1, args: { toString: 1 } });
  const message = parseServerMessage(frame.replace('"toString"', '"__proto__":{"x":1},"toString"'));
  expect(message).toHaveProperty('args', { toString: 1 });
});
