import fc from 'fast-check';
import { expect, test } from 'vitest';
import { serverMessageSchema } from '../protocol/server-messages.ts';
import { parseServerMessage } from './parse-server-message.ts';

const rejected = { name: 'a', code: 'b', message: 'c' };
const MESSAGES = [
  {
    type: 'welcome',
    client_id: 'c',
    resume_token: 't',
    resumed: true,
    heartbeat_ms: 1,
    limits: { frame: 1 },
    forget: ['tc_1'],
    cancel: [],
    protocol: 'callboard.v1',
  },
  { type: 'tools_registered', count: 1, registered: 1, rejected: [rejected] },
  {
    type: 'tool_call_request',
    id: 'tc_1',
    name: 'a',
    args: { a: 1 },
    run_id: 'r',
    attempt: 1,
    timeout_ms: 1,
  },
  { type: 'tool_call_granted', id: 'tc_1', attempt: 1, remaining_ms: 1 },
  { type: 'tool_call_refused', id: 'tc_1', attempt: 1, reason: 'r' },
  { type: 'tool_call_cancel', id: 'tc_1', reason: 'r' },
  { type: 'result_acknowledged', id: 'tc_1', disposition: 'late' },
  { type: 'result_rejected', id: 'tc_1', code: 'conflict', message: 'm', final: true },
  { type: 'probe', nonce: 'n' },
  { type: 'probe_ack', nonce: 'n' },
  { type: 'error', code: 'c', message: 'm', id: 'tc_1' },
] as const;

test('[CL14] every message of the protocol is read', () => {
  const types = serverMessageSchema.options.map((one) => one.shape.type.value);
  expect(MESSAGES.map(({ type }) => type).toSorted()).toEqual(types.toSorted());
  for (const message of MESSAGES) {
    expect(parseServerMessage(JSON.stringify(message))).toEqual(message);
  }
});

/** Values that are right somewhere, and wrong elsewhere. */
const VALUES = [
  undefined,
  null,
  1,
  '',
  'late',
  'conflict',
  true,
  false,
  [],
  ['x'],
  [1],
  {},
  { a: 1 },
];
const damaged = fc
  .record({
    message: fc.constantFrom(...MESSAGES),
    at: fc.nat(8),
    value: fc.oneof(
      fc.constantFrom(...VALUES, [rejected], [{ ...rejected, code: 1 }]),
      fc.jsonValue(),
    ),
  })
  .map(({ message, at, value }) => {
    const keys = Object.keys(message);
    return { ...message, [keys[at % keys.length] ?? 'type']: value };
  });

test('[CL14] a frame is taken if and only if it fits the schema of the protocol', () => {
  fc.assert(
    fc.property(fc.oneof(damaged, fc.jsonValue()), (frame) => {
      const text = JSON.stringify(frame);
      const isMessage = serverMessageSchema.safeParse(JSON.parse(text)).success;
      expect(parseServerMessage(text) !== undefined).toBe(isMessage);
    }),
    { numRuns: 2_000 },
  );
});

test('[CL14] what is no text, or no JSON, is no message', () => {
  expect(parseServerMessage(new ArrayBuffer(1))).toBeUndefined();
  expect(parseServerMessage('{')).toBeUndefined();
});
