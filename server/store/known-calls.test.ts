import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CallEventEntry } from '#lib/call/call-event';
import { type CallRecord, NO_ROUTING } from '#lib/call/call-record';
import { foldEvent } from '#lib/call/testing/fold-event';
import type { Card, CardUpdate } from '#lib/protocol/card';
import { createKnownCalls, joinEvents, NOT_THERE } from './known-calls.ts';
import { VersionConflictError } from './store-errors.ts';

const call = (card: Card): CallRecord => ({
  id: 'tc_1',
  runId: 'run_1',
  toolName: 'echo.text',
  source: 'client',
  status: 'RUNNING',
  phase: 'granted',
  args: { text: 'hi' },
  result: undefined,
  display: undefined,
  preview: undefined,
  error: null,
  attachments: [],
  resultHash: null,
  lateResult: undefined,
  annotations: {},
  timeoutMs: 1,
  wantedClientId: null,
  routing: NO_ROUTING,
  provider: null,
  granted: true,
  createdAt: 1,
  queuedAt: null,
  offeredAt: null,
  startedAt: null,
  completedAt: null,
  deadlines: {
    approval: null,
    queue: null,
    start: null,
    execute: null,
    resume: null,
    cancel: null,
  },
  clockMark: null,
  executeLeftMs: null,
  retryOf: null,
  version: 3,
  toolProvider: 'clients',
  parentCallId: null,
  depth: 0,
  requestedBy: 'operator',
  ownerToken: null,
  card,
});

const event = (given: Partial<CallEventEntry>): CallEventEntry => ({
  version: 4,
  type: 'status',
  at: 1,
  actor: 'client:cl_1',
  attempt: 1,
  patch: {},
  update: {},
  ...given,
});

test('an event patches the record, merges into the card and gives its version', () => {
  const before = call({ params: { text: 'hi' }, status: 'WAIT' });
  const after = foldEvent(
    before,
    event({ patch: { preview: undefined, phase: 'device' }, update: { params: { more: 1 } } }),
  );
  expect(after).toStrictEqual({
    ...before,
    phase: 'device',
    version: 4,
    card: { params: { text: 'hi', more: 1 }, status: 'WAIT' },
  });
});

const updates: fc.Arbitrary<CardUpdate> = fc.record(
  {
    status: fc.constantFrom('WAIT', 'DOING'),
    phase: fc.constantFrom('queued', 'granted', 'device', null),
    params: fc.dictionary(fc.constantFrom('a', 'b'), fc.integer({ max: 2, min: 0 })),
    status_params: fc.dictionary(fc.constantFrom('a', 'b'), fc.integer({ max: 2, min: 0 })),
    tip: fc.constantFrom('one', 'two', null),
    preview: fc.integer({ max: 2, min: 0 }),
    preview_bytes: fc.constantFrom(20_000, 30_000),
    params_whole: fc.constant(true),
    progress: fc.record({ done: fc.nat(9) }),
  },
  { requiredKeys: [] },
);

test('two events joined fold to what they fold to one after the other', () => {
  fc.assert(
    fc.property(updates, updates, updates, (shown, one, two) => {
      const before = call({ ...shown, params: shown.params ?? {} });
      const first = event({ version: 4, update: one, patch: { preview: 1, executeLeftMs: 5 } });
      const second = event({ version: 5, update: two, patch: { preview: 2 } });
      const apart = foldEvent(foldEvent(before, first), second);
      const joined = joinEvents(first, second, apart.card);
      expect(foldEvent(before, joined)).toEqual(apart);
    }),
    { numRuns: 1_000 },
  );
});

test('[ST45] only of a call that may be stored it is read which version it has', () => {
  const read: string[] = [];
  const stored = new Map([['tc_5', { version: 2, chars: 10 }]]);
  const calls = createKnownCalls((id) => {
    read.push(id);
    return stored.get(id) ?? NOT_THERE;
  }, 'tc_5');
  const append = (id: string, version: number) => {
    const write = calls.beginWrite();
    write.append({ ...call({ params: {} }), id, version }, event({ version }));
    write.keep();
  };
  append('tc_7', 1);
  expect(read).toEqual([]);
  for (const id of ['tc_5', 'tc_7']) expect(() => append(id, 1)).toThrow(VersionConflictError);
  append('tc_6', 1); // Older than one that was written since: it may have been before.
  expect(read).toEqual(['tc_5', 'tc_6']);
});
