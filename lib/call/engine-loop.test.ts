import { expect, test } from 'vitest';
import type { Call } from './call.ts';
import type { CallEvent } from './call-event.ts';
import { NO_DEADLINES } from './clocks.ts';
import { decide } from './decide.ts';
import type { Effect } from './effects.ts';
import {
  addDecision,
  beginWith,
  type DecidedEffect,
  type DecisionBatch,
  happensNow,
  isStillWanted,
  type Recovery,
  recoveredByVoid,
  takeDecided,
  takePending,
  takeVoid,
} from './engine-loop.ts';
import { changed, sampleCall } from './testing/sample-call.ts';

const NOW = { wall: 1_000, steady: 1_000 };

const streaming = (source: 'server' | 'client'): Call =>
  sampleCall({ source, phase: 'streaming', annotations: {}, version: 0 });

/** Counts versions, and keeps the types of its events. */
function batchOf(record: Call): DecisionBatch & { readonly types: string[] } {
  const types: string[] = [];
  const effects: DecidedEffect[] = [];
  let newest = record;
  let offerVersion: number | undefined;
  let recovery: Recovery | undefined;
  const append = (type: string, next: Call) => {
    newest = { ...next, version: newest.version + 1 };
    types.push(type);
    if (type === 'offered') offerVersion = newest.version;
  };
  return {
    types,
    effects,
    get record() {
      return newest;
    },
    get offerVersion() {
      return offerVersion;
    },
    get recovery() {
      return recovery;
    },
    addFirst: (first) => append('created', first),
    add(event, _actor, decision) {
      append(event.type, decision.record);
      if (event.type === 'recovered') recovery = { event, version: newest.version };
    },
  };
}

const ALLOWED: CallEvent = { type: 'arguments_complete', check: 'allow' };
const OFFERED: CallEvent = {
  type: 'offered',
  rerunnable: false,
  provider: { clientId: 'c', instanceId: 'i', attempt: 1, claims: false, journalEpoch: null },
};

test('[CE6] who gets a new call is decided within its first write, as the next version', () => {
  const batch = batchOf(streaming('client'));
  const rules = { decide, route: () => OFFERED };
  expect(beginWith(batch, ALLOWED, 'operator', rules, NOW)).toBeUndefined();
  expect([batch.types, batch.offerVersion]).toEqual([['created', 'offered'], 2]);
  const progress = {
    latest: batch.record,
    durable: undefined,
    pendingEffects: [],
    grant: undefined,
    offerVersion: 0,
    recovery: undefined,
  };
  // A tool with effects, at a client that does not claim: its request waits for its own event.
  const [request] = takeDecided(progress, batch, true);
  expect([request?.effect.type, request?.after, progress.offerVersion]).toEqual(['request', 2, 2]);
  expect(request && happensNow(progress, request)).toBe(false);
  const onDisk = { ...progress, durable: batch.record };
  expect(request && happensNow(onDisk, request)).toBe(true);
});

test('[CE6] an event that is refused makes no call', () => {
  const batch = batchOf(streaming('server'));
  const rules = { decide, route: () => undefined };
  expect(beginWith(batch, { type: 'approved' }, 'operator', rules, NOW)).toMatchObject({
    ok: false,
  });
  expect(batch.types).toEqual([]);
});

test('[CE6] what waited for a version happens with it, and after a refused append nothing does', () => {
  const stop: Effect = { type: 'stop', reason: '', after: 'event' };
  const [first, second] = [
    { effect: stop, after: 3 },
    { effect: stop, after: 5 },
  ];
  const progress = { pendingEffects: [first, second] };
  expect(takePending(progress, 4)).toEqual([first]);
  expect(progress.pendingEffects).toEqual([second]);
  expect(takeVoid(progress)).toEqual([second]);
  expect(progress.pendingEffects).toEqual([]);
});

test('[CE6] how a start took a call up is to be decided again as long as it is not on disk', () => {
  const stored = sampleCall({ source: 'client', phase: 'queued', clockMark: null, version: 4 });
  const event = { type: 'recovered', shiftMs: 7 } as const;
  const batch = batchOf(stored);
  const decision = decide(stored, event, NOW);
  if (!decision.ok) throw new Error('Cannot be');
  addDecision(batch, event, 'server', decision, { decide, route: () => undefined }, NOW);
  const progress = {
    latest: stored,
    durable: stored,
    pendingEffects: [],
    grant: undefined,
    offerVersion: 0,
    recovery: undefined,
  };
  takeDecided(progress, batch, false);
  expect(recoveredByVoid(progress)).toBe(event);
  expect(recoveredByVoid({ ...progress, durable: batch.record })).toBeUndefined();
});

test.each([
  ['another client is asked', OFFERED, 'offered'],
  ['there is no other, and its clock goes on', undefined, 'clock'],
] as const)('[CE6] of an offer that nobody claimed there is one event: %s', (_name, next, type) => {
  const offered = { clientId: 'c', instanceId: 'h', attempt: 0, claims: true, journalEpoch: null };
  const deadlines = { ...NO_DEADLINES, start: 1_000 };
  const call = sampleCall({ source: 'client', phase: 'offered', provider: offered, deadlines });
  const batch = batchOf({ ...call, annotations: {}, version: 4 });
  const event = { type: 'clock', clock: 'start' } as const;
  const decision = decide(batch.record, event, NOW);
  if (!decision.ok) throw new Error('Cannot be');
  addDecision(batch, event, 'server', decision, { decide, route: () => next }, NOW);
  expect([batch.types, batch.record.version]).toEqual([[type], 5]);
});

test('[CE6] what has ended is not started, but still stopped', () => {
  const latest: Call = changed(streaming('server'), { status: 'FAILED', phase: null });
  expect(isStillWanted({ latest }, { type: 'run', after: 'event' })).toBe(false);
  expect(isStillWanted({ latest }, { type: 'stop', reason: '', after: 'event' })).toBe(true);
});
