import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CallClock } from '../protocol/call-status.ts';
import { isFinalStatus } from '../protocol/is-final-status.ts';
import type { Provider } from './call.ts';
import { transition } from './call-machine.ts';
import type { CallState, StateEvent } from './call-state.ts';

const provider: Provider = {
  ...{ clientId: 'phone', instanceId: 'i1', attempt: 1, claims: true },
  journalEpoch: null,
};
const from = { clientId: 'phone', instanceId: 'i1', attempt: 1 };
const fresh: CallState = {
  status: 'PENDING',
  phase: 'streaming',
  source: 'client',
  granted: false,
  annotations: {},
};

const hints = (readOnlyHint: boolean) => ({ annotations: { readOnlyHint } });

/** Follows events, each of which has to be possible. */
function follow(state: CallState, ...events: StateEvent[]): CallState & { error?: unknown } {
  let now: CallState & { error?: unknown } = state;
  for (const event of events) {
    const moved = transition(now, event);
    if (!moved.ok) throw new Error(`${event.type} was refused: ${moved.refusal}`);
    now = { ...now, ...moved } as typeof now;
  }
  return now;
}

const queued = follow(fresh, { type: 'arguments_complete', check: 'allow' });
const effects = { type: 'offered', rerunnable: false } as const;
const offered = follow(queued, { ...effects, provider });
const granted = follow(offered, { type: 'claimed', from });
const plain = follow(queued, { ...effects, provider: { ...provider, claims: false } });

test('[CS9] a sixth question is held; refused are a fifty-sixth, the hundred and first equal call, and one more after thirty in an hour', () => {
  const ask = (equal: number, ofRun: number, ofCaller = 0, count = 0, ofOwner = 0, held = 0) => {
    const asked = { equal, ofRun, ofCaller, ofOwner, lately: { count, nextInMs: 1 } };
    const waiting = { ...asked, held, isEqualHeld: held > 0, atOnce: 5 };
    const moved = transition(fresh, { type: 'arguments_complete', check: 'ask', waiting });
    return moved.ok && ('error' in moved ? moved.error?.reason : moved.phase);
  };
  expect([ask(0, 4), ask(0, 4, 4), ask(1, 5, 5), ask(99, 5)]).toEqual(Array(4).fill('approval'));
  expect([ask(0, 5), ask(0, 1, 5), ask(0, 1, 0, 0, 0, 49), ask(1, 5, 0, 0, 0, 1)]).toEqual(
    Array(4).fill('held'),
  );
  expect([ask(0, 5, 0, 0, 0, 50), ask(100, 1)]).toEqual(Array(2).fill('too_many_approvals'));
  expect([ask(0, 4, 4, 29), ask(1, 4, 4, 30)]).toEqual(Array(2).fill('approval'));
  expect(ask(0, 0, 0, 30)).toBe('approval_rate');
  expect([ask(0, 0, 0, 0, 19), ask(1, 1, 0, 0, 20)]).toEqual(Array(2).fill('approval'));
  expect([ask(0, 0, 0, 0, 20), ask(0, 0, 0, 0, 20, 50)]).toEqual(['held', 'too_many_approvals']);
});

test('[CS3] what was only offered is offered again, what may have run is not', () => {
  const again = { ...provider, attempt: 2 };
  expect(transition(offered, { ...effects, provider: again }).ok).toBe(true);
  expect(transition(granted, { ...effects, provider: again })).toEqual({
    ok: false,
    refusal: 'already_granted',
  });
  expect(transition(plain, { ...effects, provider: again }).ok).toBe(false);
  const proven = transition(granted, {
    ...effects,
    provider: again,
    neverStarted: provider,
  });
  expect(proven).toMatchObject({ ok: true, phase: 'offered', granted: false });
});

test('[CS3] what may have started is offered again only if it is harmless there and here', () => {
  const again = { ...provider, clientId: 'other', instanceId: 'i2', attempt: 2 };
  const mayGo = (state: CallState, there: boolean, here: boolean) =>
    transition(
      { ...state, ...hints(there) },
      { type: 'offered', provider: again, rerunnable: here },
    ).ok;
  const cases = [true, false].flatMap((there) =>
    [true, false].map((here) => [mayGo(granted, there, here), mayGo(offered, there, here)]),
  );
  expect(cases).toEqual([
    [true, true],
    [false, true],
    [false, true],
    [false, true],
  ]);
  // The one that has it now took nothing; the one before may have.
  const second = { ...offered, ...hints(true), provider: again } as CallState;
  const third = { ...again, attempt: 3 };
  expect(transition(second, { ...effects, provider: third }).ok).toBe(false);
  expect(transition(second, { type: 'offered', provider: third, rerunnable: true }).ok).toBe(true);
});

test('[CS2] what waits in the queue is asked again; what was offered cannot be', () => {
  expect(follow(queued, { type: 'asked_again' })).toMatchObject({
    status: 'PENDING',
    phase: 'approval',
  });
  for (const state of [fresh, offered, granted, plain]) {
    expect(transition(state, { type: 'asked_again' }).ok).toBe(false);
  }
});

test('[CS8] what was not taken may end as one that cannot be run, and not once an executor may run it', () => {
  const error = { code: 'invalid_args', message: 'x', executed: 'no' } as const;
  const ends: StateEvent = { type: 'refused', error };
  for (const state of [fresh, queued, offered]) {
    expect(follow(state, ends)).toMatchObject({ status: 'FAILED', error });
  }
  const second = {
    ...offered,
    ...hints(true),
    provider: { ...provider, attempt: 2 },
  } as CallState;
  expect(follow(second, ends).error).toMatchObject({ executed: 'unknown' });
  for (const state of [granted, plain]) expect(transition(state, ends).ok).toBe(false);
});

test('[CS3] what a journal says of one attempt proves nothing of another', () => {
  const next = { ...provider, attempt: 3 };
  const moved = {
    ...granted,
    provider: { ...provider, instanceId: 'i2', attempt: 2 },
  } as CallState;
  for (const neverStarted of [provider, { ...provider, attempt: 2 }]) {
    expect(transition(moved, { ...effects, provider: next, neverStarted })).toEqual({
      ok: false,
      refusal: 'already_granted',
    });
  }
});

test('[CS3] an offer needs a higher attempt', () => {
  expect(transition(offered, { ...effects, provider })).toEqual({
    ok: false,
    refusal: 'stale_attempt',
  });
});

test.each([
  ['another client', { ...from, clientId: 'laptop' }, 'not_your_call'],
  ['another instance', { ...from, instanceId: 'i2' }, 'not_your_call'],
  ['an older attempt', { ...from, attempt: 9 }, 'stale_attempt'],
])('[CS4] %s may neither claim nor answer', (_who, mismatch, refusal) => {
  expect(transition(offered, { type: 'claimed', from: mismatch })).toEqual({
    ok: false,
    refusal,
  });
  const answer: StateEvent = { type: 'answered', from: mismatch, error: null };
  expect(transition(granted, answer)).toEqual({ ok: false, refusal });
});

test('[CS5] a grant that has not left is taken back', () => {
  const cancelled: StateEvent = { type: 'cancelled', reason: 'stop', isUnsent: true };
  const error = { code: 'cancelled', message: 'stop', executed: 'no' };
  expect(follow(granted, cancelled)).toMatchObject({ status: 'FAILED', granted: false, error });
  const secondAttempt = { ...provider, attempt: 2 };
  const again = { ...granted, ...hints(true), provider: secondAttempt } as CallState;
  expect(follow(again, cancelled).error).toMatchObject({ executed: 'unknown' });
  const asked = follow(granted, { type: 'cancelled', reason: 'stop' });
  expect(transition(asked, cancelled)).toEqual({ ok: false, refusal: 'cancelling' });
});

test('[CS6] each clock ends only its own phase', () => {
  const clock = (name: CallClock): StateEvent => ({
    type: 'clock',
    clock: name,
    limitMs: 1000,
  });
  const approval = follow(fresh, { type: 'arguments_complete', check: 'ask' });
  expect(follow(approval, clock('approval')).error).toMatchObject({ code: 'approval_expired' });
  expect(follow(queued, clock('queue'))).toMatchObject({ status: 'TIMEOUT' });
  expect(follow(granted, clock('execute'))).toMatchObject({
    status: 'TIMEOUT',
    error: { clock: 'execute', executed: 'unknown' },
  });
  for (const [state, name] of [
    [granted, 'approval'],
    [granted, 'queue'],
    [offered, 'execute'],
    [granted, 'cancel'],
    [offered, 'start'],
    [fresh, 'queue'],
    [approval, 'queue'],
    [approval, 'resume'],
    [queued, 'resume'],
    [follow(granted, { type: 'device', asking: true, from }), 'execute'],
    [follow(granted, { type: 'cancelled', reason: 'stop' }), 'execute'],
  ] as const) {
    expect(transition(state, clock(name)).ok, `${name} in ${state.phase}`).toBe(false);
  }
});

const anyFrom = fc.record({
  clientId: fc.constantFrom('phone', 'laptop'),
  instanceId: fc.constantFrom('i1', 'i2'),
  attempt: fc.constantFrom(undefined, 1, 2),
});
const toolError = { code: 'tool_error', message: 'x', executed: 'yes' } as const;
const anyEvent: fc.Arbitrary<StateEvent> = fc.oneof(
  fc.constantFrom<StateEvent>(
    { type: 'arguments_complete', check: 'allow' },
    { type: 'arguments_complete', check: 'ask' },
    { type: 'refused', error: { code: 'invalid_args', message: 'x', executed: 'no' } },
    { type: 'approved' },
    { type: 'denied', message: 'no' },
    { type: 'started_here' },
    { type: 'finished_here', error: null },
    { type: 'answered_by_hand' },
    { type: 'cancelled', reason: 'stop' },
    { type: 'instance_back', instanceId: 'i2' },
    { type: 'outcome_lost', message: 'x' },
    { type: 'asked_again' },
    { type: 'interrupted', message: 'x' },
  ),
  anyFrom.map((who): StateEvent => ({ type: 'claimed', from: who })),
  fc
    .tuple(anyFrom, fc.boolean())
    .map(([who, asking]): StateEvent => ({ type: 'device', asking, from: who })),
  fc
    .tuple(anyFrom, fc.boolean())
    .map(
      ([who, ok]): StateEvent => ({ type: 'answered', from: who, error: ok ? null : toolError }),
    ),
  fc.tuple(fc.integer({ min: 1, max: 4 }), fc.boolean(), fc.boolean(), fc.boolean()).map(
    ([attempt, claims, rerunnable, isProven]): StateEvent => ({
      type: 'offered',
      provider: { ...provider, attempt, claims },
      rerunnable,
      ...(isProven && { neverStarted: { ...provider, attempt: attempt - 1 } }),
    }),
  ),
  fc
    .constantFrom('approval', 'queue', 'start', 'execute', 'resume', 'cancel')
    .map((clock): StateEvent => ({ type: 'clock', clock, limitMs: 1000 })),
);
/** What the client says of the tool that has it now is what counts from then on. */
const fieldsOf = (event: StateEvent) => (event.type === 'offered' ? hints(event.rerunnable) : {});
const anyLife = fc.tuple(fc.boolean(), fc.boolean(), fc.array(anyEvent, { maxLength: 25 }));
const RANK = { PENDING: 0, RUNNING: 1, SUCCEEDED: 2, FAILED: 2, TIMEOUT: 2 } as const;

test('[CS2] a status never goes back, and a final one has its reason', () => {
  fc.assert(
    fc.property(anyLife, ([server, rerunnable, events]) => {
      let state: CallState = {
        ...{ ...fresh, source: server ? 'server' : 'client' },
        ...hints(rerunnable),
      };
      for (const event of events) {
        const moved = transition(state, event);
        if (!moved.ok) continue;
        expect(RANK[moved.status]).toBeGreaterThanOrEqual(RANK[state.status]);
        expect(isFinalStatus(moved.status)).toBe(moved.phase === null);
        expect('error' in moved).toBe(moved.status === 'FAILED' || moved.status === 'TIMEOUT');
        state = { ...state, ...moved, ...fieldsOf(event) } as CallState;
      }
    }),
    { numRuns: 2_000 },
  );
});

test('[CS8] executed is "no" only if no executor can have started', () => {
  fc.assert(
    fc.property(anyLife, ([server, rerunnable, events]) => {
      let state: CallState = {
        ...{ ...fresh, source: server ? 'server' : 'client' },
        ...hints(rerunnable),
      };
      for (const event of events) {
        const moved = transition(state, event);
        if (!moved.ok) continue;
        if ('error' in moved && moved.error?.executed === 'no') expect(state.granted).toBe(false);
        state = { ...state, ...moved, ...fieldsOf(event) } as CallState;
      }
    }),
    { numRuns: 2_000 },
  );
});

test('[CS8] what was run before and waits again is never said not to have run', () => {
  const again = {
    ...offered,
    ...hints(true),
    provider: { ...provider, attempt: 2 },
  } as CallState;
  const ends: StateEvent[] = [
    { type: 'clock', clock: 'queue', limitMs: 1000 },
    { type: 'clock', clock: 'resume', limitMs: 1000 },
    { type: 'cancelled', reason: 'stop' },
    { type: 'interrupted', message: 'x' },
  ];
  for (const event of ends) {
    expect(transition(again, event)).toMatchObject({ ok: true, error: { executed: 'unknown' } });
    const first = { ...again, provider } as CallState;
    expect(transition(first, event)).toMatchObject({ ok: true, error: { executed: 'no' } });
  }
});
