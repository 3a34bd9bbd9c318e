import { expect, test } from 'vitest';
import type { WireCallRecord } from '#lib/protocol/call-record';
import type { Violation } from '../scenario.ts';
import { checkInvariants } from './check-invariants.ts';
import type { Acknowledgement } from './client-facts.ts';
import { createWitness } from './witness.ts';

const late: Acknowledgement = { id: 'tc_1', disposition: 'late', hash: 'h' };
// The edge to the API: of a record only this much is looked at.
const timedOut = {
  tool_call_id: 'tc_1',
  tool_name: 'read',
  status: 'TIMEOUT',
  source: 'client',
  args: {},
  late_result: null,
  error: { code: 'timeout', message: 'late', executed: 'unknown' },
} as unknown as WireCallRecord;

/** A client of which an answer is acknowledged before, or while, the records are read. */
async function gather({ isBefore }: { readonly isBefore: boolean }) {
  const acknowledged = isBefore ? [late] : [];
  const shown = new Map([['tc_1', 'WAIT']]);
  const violations: Violation[] = [];
  const seen = {
    api: {
      async records() {
        if (!isBefore) acknowledged.push(late);
        shown.set('tc_1', 'SUCCESS');
        return new Map([['tc_1', timedOut]]);
      },
    },
    witness: createWitness(),
    clients: () => [
      { name: 'a', clientIds: new Set<string>(), acknowledged, rejected: 0, problems: [] },
    ],
    effects: () => new Map(),
    shown,
  };
  await checkInvariants(seen, (invariant, detail) => void violations.push({ invariant, detail }));
  return violations;
}

test('an answer that is acknowledged while the records are read need not be in them', async () => {
  expect(await gather({ isBefore: false })).toEqual([]);
});

test('an answer that was acknowledged before has to be in the records', async () => {
  expect(await gather({ isBefore: true })).toMatchObject([
    { invariant: 'I2', detail: expect.stringContaining('no late result is kept') },
  ]);
});
