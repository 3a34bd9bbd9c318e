import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callClockSchema } from '../protocol/call-status.ts';
import { isFinalStatus } from '../protocol/is-final-status.ts';
import { CLOCKS, LIMITS } from '../protocol/limits.ts';
import type { ApprovalTerms } from './approval-terms.ts';
import type { Call, Provider } from './call.ts';
import type { CallEvent } from './call-event.ts';
import { type Moment, NO_DEADLINES, shownAt } from './clocks.ts';
import { type Decision, decide } from './decide.ts';
import { mergeCard } from './merge-card.ts';
import type { ClientKnowledge } from './resume-matrix.ts';
import { changed, freshCall } from './testing/sample-call.ts';

const fresh = (more: Partial<Call> = {}): Call => freshCall({ args: { mode: 'still' }, ...more });

const provider: Provider = {
  clientId: 'phone',
  instanceId: 'i1',
  attempt: 1,
  claims: true,
  journalEpoch: 'e1',
};
const from = { clientId: 'phone', instanceId: 'i1', attempt: 1 };
const ALLOW: CallEvent = { type: 'arguments_complete', check: 'allow' };
const OFFER: CallEvent = { type: 'offered', provider, rerunnable: false };
const CLAIM: CallEvent = { type: 'claimed', from };

/** A moment at which both clocks say the same. */
const at = (ms: number): Moment => ({ wall: ms, steady: ms });

function decided(call: Call, event: CallEvent, now = 2_000) {
  const decision = decide(call, event, at(now));
  if (!decision.ok) throw new Error(`${event.type} was refused: ${decision.refusal}`);
  return decision;
}

const stateAfter = (call: Call, ...events: CallEvent[]): Call =>
  events.reduce((state, event) => decided(state, event).record, call);

const offered = stateAfter(fresh(), ALLOW, OFFER);
const granted = stateAfter(offered, CLAIM);

const anyEvent: fc.Arbitrary<CallEvent> = fc.constantFrom<CallEvent>(
  ALLOW,
  { type: 'arguments_complete', check: 'ask', shown: { approval_reason: 'asks' } },
  { type: 'approved', fields: { args: { mode: 'video' } } },
  { type: 'denied', message: 'no' },
  OFFER,
  { ...OFFER, provider: { ...provider, attempt: 2, instanceId: 'i2' } },
  { type: 'started_here' },
  CLAIM,
  { type: 'device', asking: true, from },
  { type: 'device', asking: false, from },
  { type: 'answered', from, error: null, fields: { result: 1 } },
  { type: 'answered_by_hand', fields: { result: 'by hand' } },
  { type: 'cancelled', reason: 'enough' },
  { type: 'clock', clock: 'queue' },
  { type: 'clock', clock: 'start' },
  { type: 'clock', clock: 'execute' },
  { type: 'clock', clock: 'resume' },
  { type: 'clock', clock: 'cancel' },
  { type: 'client_left' },
  { type: 'client_back', instanceId: 'i1', knowledge: 'nothing' },
  { type: 'client_back', instanceId: 'i1', knowledge: 'nothing_new_journal' },
  { type: 'client_back', instanceId: 'i3', knowledge: 'running' },
  { type: 'recovered', shiftMs: 500 },
  { type: 'extended', byMs: 1_000 },
  { type: 'below_waits', isWaiting: true },
  { type: 'below_waits', isWaiting: false },
  { type: 'status', from, shown: { tip: 'at it', preview: { half: true } } },
  { type: 'sketch', shown: { params: { mode: 'st' }, partial: true } },
  { type: 'late_answer', from, error: null, fields: { result: 'late' } },
);

/** As `Object.freeze`, all the way down. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(Object.freeze(value))) frozen(inner);
  return value;
}

describe('a decision', () => {
  test('[CE1] depends on nothing else than what it is given, and changes none of that', () => {
    const follow = (events: readonly CallEvent[]) => {
      const decisions: Decision[] = [];
      let call = frozen(fresh());
      for (const [later, event] of events.entries()) {
        const decision = decide(call, frozen(event), at(2_000 + later));
        decisions.push(decision);
        if (decision.ok) call = frozen(decision.record);
      }
      return decisions;
    };
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 12 }), (events) => {
        expect(follow(structuredClone(events))).toEqual(follow(events));
      }),
    );
  });

  test('[CE1] an update and the card before it give the card of the record', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 12 }), (events) => {
        let call = fresh();
        for (const event of events) {
          const decision = decide(call, event, at(2_000));
          if (!decision.ok) continue;
          const { status, phase } = decision.record.card;
          expect(mergeCard(call.card, decision.update)).toEqual(decision.record.card);
          expect([status, phase]).toEqual([
            {
              PENDING: 'WAIT',
              RUNNING: 'DOING',
              SUCCEEDED: 'SUCCESS',
              FAILED: 'ERROR',
              TIMEOUT: 'ERROR',
            }[decision.record.status],
            decision.record.phase,
          ]);
          call = decision.record;
        }
      }),
    );
  });

  test('[CS1] [CS6] no event changes what is final but a late answer, and no clock that runs is refused', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 12 }), (events) => {
        let call = fresh();
        for (const event of events) {
          const decision = decide(call, event, at(2_000));
          if (!decision.ok) continue;
          if (isFinalStatus(call.status)) expect(event.type).toBe('late_answer');
          call = decision.record;
          // A refused one would leave the call without a timer.
          for (const clock of callClockSchema.options) {
            if (!(clock in call.deadlines)) continue;
            expect(decide(call, { type: 'clock', clock }, at(2_000))).toMatchObject({ ok: true });
          }
        }
      }),
    );
  });

  test('[CE1] a version is counted by the engine, never by a decision', () => {
    expect(stateAfter(fresh(), ALLOW, OFFER, CLAIM).version).toBe(0);
  });
});

describe('what a start finds', () => {
  const recovered = (call: Call) => decided(call, { type: 'recovered', shiftMs: 0 });

  test('[CE5] offered to a client that claims: it may have been granted', () => {
    const { record } = recovered(offered);
    expect(record).toMatchObject({ phase: 'offered', granted: true });
    expect(record.deadlines).toHaveProperty('resume');
    const lost = {
      type: 'client_back',
      instanceId: 'i1',
      knowledge: 'nothing_new_journal',
    } as const;
    expect(decided(record, lost).record.error).toMatchObject({
      code: 'outcome_unknown',
      executed: 'unknown',
    });
    expect(decided(record, { type: 'clock', clock: 'resume' }).record.error).toMatchObject({
      code: 'outcome_unknown',
      reason: 'client_left',
    });
  });

  test('[CE5] its person is asked before its client is known to be back: it has all its time left', () => {
    const asked = decided(recovered(offered).record, { type: 'device', asking: true, from });
    const { deadlines, timeoutMs } = asked.record;
    expect(deadlines).toMatchObject({ executeLeftMs: timeoutMs });
  });

  test('[CE5] its journal proves that it was not: it is offered again', () => {
    const back = { type: 'client_back', instanceId: 'i1', knowledge: 'nothing' } as const;
    const { record, effects } = decided(recovered(offered).record, back);
    expect(effects).toMatchObject([{ type: 'reoffer', neverStarted: { attempt: 1 } }]);
    const again = decided(record, {
      type: 'offered',
      provider: { ...provider, attempt: 2 },
      rerunnable: false,
      neverStarted: provider,
    });
    expect(again.record).toMatchObject({ phase: 'offered', granted: false });
  });

  test('[CE5] its client still runs it: only the time of the tool runs, and it may answer', () => {
    const back = { type: 'client_back', instanceId: 'i1', knowledge: 'running' } as const;
    const { record } = decided(recovered(offered).record, back);
    expect(record.deadlines).toEqual({ ...NO_DEADLINES, execute: 32_000 });
    expect(record.card.clock).toMatchObject({ name: 'execute' });
    const answer = { type: 'answered', from, error: null } as const;
    expect(decided(record, answer).record.status).toBe('SUCCEEDED');
    const late = decided(record, { type: 'clock', clock: 'execute' }).record;
    expect(late.error).toMatchObject({ clock: 'execute', executed: 'unknown' });
  });

  test('[CE5] a client that polls is granted what it fetched, and nothing else', () => {
    const polling = { ...provider, instanceId: 'http:phone' };
    const call = stateAfter(fresh(), ALLOW, { ...OFFER, provider: polling });
    expect(recovered(call).record.granted).toBe(false);
  });

  test('a reading tool of the server is run again, unless it was to be stopped', () => {
    const call = fresh({ source: 'server', annotations: { readOnlyHint: true } });
    const running = stateAfter(call, ALLOW, { type: 'started_here' });
    expect(recovered(running).effects).toMatchObject([{ type: 'route' }]);
    const cancelling = stateAfter(running, { type: 'cancelled', reason: 'enough' });
    const { record, effects } = recovered(cancelling);
    expect([record.error?.code, effects]).toEqual(['interrupted', []]);
  });

  test('granted calls wait for their client, and streaming ones have ended', () => {
    expect(recovered(granted).record.deadlines).toMatchObject({
      resume: Math.min(2_000 + CLOCKS.resumeMs, 32_000),
    });
    expect(recovered(fresh()).record).toMatchObject({
      status: 'FAILED',
      error: { code: 'interrupted', executed: 'no' },
    });
  });
});

const READS = { annotations: { readOnlyHint: true } };
const plainOffer = (rerunnable = false): CallEvent => ({
  type: 'offered',
  provider: { ...provider, claims: false, journalEpoch: null },
  rerunnable,
});
const plain = stateAfter(fresh(), ALLOW, plainOffer());
const plainReading = stateAfter(fresh(READS), ALLOW, plainOffer(true));
const here = fresh({ source: 'server' });
const runningHere = stateAfter(here, ALLOW, { type: 'started_here' });
const ended = stateAfter(granted, { type: 'answered', from, error: null });
const back = (knowledge: ClientKnowledge, instanceId = 'i2'): CallEvent => ({
  type: 'client_back',
  instanceId,
  knowledge,
});
const LEFT: CallEvent = { type: 'client_left' };
const START = { type: 'clock', clock: 'start' } as const;
const EXECUTE: CallEvent = { type: 'clock', clock: 'execute' };
const SHOWS = { type: 'status', from, shown: { tip: 'at it' } } as const;
const OTHER = { ...from, instanceId: 'i2' };
const GIVEN_UP: CallEvent = { type: 'claimed', from, isGivenUp: true };
const LAPTOP = { ...from, clientId: 'laptop' };
const CANCEL: CallEvent = { type: 'cancelled', reason: 'enough' };
const recovery = (shiftMs = 0): CallEvent => ({ type: 'recovered', shiftMs });
const ASK: CallEvent = { type: 'arguments_complete', check: 'ask' };

const answer = (type: 'answered' | 'late_answer', result: unknown, resultHash = 'h') => {
  const error = result === 'stopped' ? STOPPED : null;
  return { type, from, error, fields: { result, attachments: [], resultHash } } as const;
};
const late = (result: unknown, resultHash?: string) => answer('late_answer', result, resultHash);
const DENIED = { refusal: 'denied', problem: 'not here' } as const;
const QUESTION = { question: 'Now?', input: 'yes_no', choices: [] } as const;
const STOPPED = { code: 'cancelled', message: 'x', executed: 'unknown' } as const;
const asked = stateAfter(fresh(), ASK);
const question = { ...asked, args: QUESTION, card: { ...asked.card, question: 'yes_no' } } as const;
const yes = (more: Partial<ApprovalTerms> = {}): CallEvent => {
  const terms = { isAlways: false, expiresAt: undefined, shownCalls: undefined, calls: 2 };
  return { type: 'approved', terms: { ...terms, ...more } };
};
const byHand = (result: unknown): CallEvent => ({ type: 'answered_by_hand', fields: { result } });
const answeredOnce = stateAfter(granted, answer('answered', { a: 1, b: 2 }));
const keptLate = stateAfter(ended, late('late'));

test.each<[string, Call, CallEvent, string?]>([
  ['a yes to what waits for none', granted, yes({ isAlways: true })],
  ['a yes where an answer is asked for', question, yes(), 'unanswered'],
  ['an always to what is asked about each time', asked, yes({ isAlways: true }), 'never_always'],
  ['a yes to a question of before', asked, yes({ expiresAt: 1 }), 'changed_since'],
  ['a yes for an earlier state', { ...asked, version: 3 }, yes({ version: 2 }), 'changed_since'],
  ['a yes to fewer calls than wait', asked, yes({ shownCalls: 1 }), 'more_than_shown'],
  ['a yes that the policy denies', asked, yes({ objection: DENIED }), 'denied'],
  ['an answer that does not fit', question, byHand('maybe'), 'wrong_answer'],
  ['an answer to what is not asked yet', changed(question, { phase: 'held' }), byHand(true)],
  ['what another instance shows', granted, { ...SHOWS, from: OTHER }, 'not_your_call'],
  ['what is shown already', stateAfter(granted, SHOWS), SHOWS],
  ['what is shown after the end', ended, SHOWS],
  ['arguments that are shown once they are whole', granted, { ...SHOWS, type: 'sketch' }],
  ['a claim that comes twice', granted, CLAIM, 'granted_before'],
  ['a claim where nothing is to be claimed', plain, CLAIM, 'already_granted'],
  ['a claim of what is to be offered anew', offered, GIVEN_UP, 'stale_attempt'],
  ['a repeated claim of what is to be offered anew', granted, GIVEN_UP, 'stale_attempt'],
  ['a word from the device that changes nothing', granted, { type: 'device', asking: false, from }],
  ['the same answer again', answeredOnce, late({ a: 1, b: 2 }), 'duplicate'],
  ['the same with its keys turned', answeredOnce, late({ b: 2, a: 1 }, 'i'), 'duplicate'],
  ['another answer', answeredOnce, late({ a: 1 }, 'i'), 'other_answer'],
  ['an answer of another client', answeredOnce, { ...late(1), from: LAPTOP }, 'not_your_call'],
  ['the same late answer again', keptLate, late('late'), 'late'],
  ['that it was stopped, after its output', keptLate, late('stopped'), 'late'],
  ['another late answer', keptLate, late('later'), 'other_late_answer'],
  ['a late answer before the end', granted, late(1)],
  ['more time after the end', ended, { type: 'extended', byMs: 1 }, 'already_final'],
  [
    'time for a tool that is at work, and has enough',
    granted,
    { type: 'extended', ownMs: 10_000, mostMs: 60_000 },
  ],
  ['more time for what does not run', offered, { type: 'extended', byMs: 1 }],
  ['the start clock of what was claimed', granted, START],
  ['the start clock of a client that does not claim', plain, START],
  ['a client that leaves what waits', stateAfter(fresh(), ALLOW), LEFT],
  ['a client without a journal that leaves what it may run', plain, LEFT],
  ['a start that finds what waits', stateAfter(fresh(), ALLOW), recovery()],
  ['a start that finds an approval', stateAfter(here, ASK), recovery()],
  ['a start that finds an approval for a client', stateAfter(fresh(), ASK), recovery()],
  ['a client that leaves what has ended', ended, LEFT],
  ['a start that finds what a client without a journal may run', plain, recovery()],
])('refused: %s', (_name, call, event, refusal = 'not_possible_now') => {
  expect(decide(call, event, at(2_000))).toMatchObject({ ok: false, refusal });
});

test('a yes that fits what was shown is taken, and so is an answer that fits its question', () => {
  const expiresAt = asked.card.clock?.deadline_at ?? 0;
  const fits = yes({ expiresAt, shownCalls: 2, version: asked.version });
  expect(decided(asked, fits).record.phase).toBe('queued');
  expect(decided(question, byHand(true)).record.result).toEqual({
    answer: true,
    answered_by: 'person',
  });
});

const STOP = { type: 'stop', after: 'event' };
const ROUTE = { type: 'route' };

test.each<[string, Call, CallEvent, object[]]>([
  ['a cancel', granted, CANCEL, [{ ...STOP, reason: 'enough' }]],
  ['an answer by hand', granted, { type: 'answered_by_hand' }, [STOP]],
  ['a timeout at a client', granted, EXECUTE, [{ ...STOP, reason: 'timeout: execute' }]],
  ['a timeout here', runningHere, EXECUTE, [STOP]],
  ['an offer that nobody claims', offered, START, [{ ...ROUTE, orElse: { isKept: true } }]],
  ['an offer that a busy client has not claimed', offered, { ...START, isKept: true }, []],
  ['a client that leaves an offer', offered, LEFT, [ROUTE]],
  ['a client that leaves a granted call', granted, LEFT, []],
  ['one without a journal that leaves what may be repeated', plainReading, LEFT, []],
  ['a client that is back and runs it', granted, back('running'), []],
  [
    'a client that is back and never started it',
    granted,
    back('nothing'),
    [{ type: 'reoffer', neverStarted: { instanceId: 'i2', attempt: 1 } }],
  ],
  [
    'a client that is back and started what may be repeated',
    { ...granted, ...READS },
    back('started'),
    [{ type: 'reoffer', neverStarted: undefined }],
  ],
  ['a start that finds an offer', offered, recovery(), []],
  ['a start that finds a queued tool of the server', stateAfter(here, ALLOW), recovery(), [ROUTE]],
  ['a start that finds a running tool with effects', runningHere, recovery(), []],
  [
    'a start that finds a running tool that reads',
    { ...runningHere, ...READS },
    recovery(),
    [{ ...ROUTE, orElse: { type: 'interrupted' } }],
  ],
])('[CE2] what follows from %s', (_name, call, event, effects) => {
  const { effects: found } = decided(call, event);
  expect(found).toHaveLength(effects.length);
  expect(found).toMatchObject(effects);
});

test.each<[string, Call, CallEvent, object]>([
  ['an offer', stateAfter(fresh(), ALLOW), OFFER, { provider }],
  ['a claim', offered, CLAIM, { provider: { journalEpoch: 'e1' } }],
  ['what an event shows', offered, { ...CLAIM, shown: { tip: 'now' } }, { card: { tip: 'now' } }],
  [
    'an offer that nobody claims',
    changed(offered, { deadlines: { ...offered.deadlines, start: 1_000 } }),
    { ...START, isKept: true },
    { deadlines: { start: 2_000 + CLOCKS.startMs } },
  ],
  ['one that left', plainReading, LEFT, { deadlines: { resume: 32_000 } }],
  [
    'a start that finds deadlines that are wall times',
    { ...stateAfter(fresh(), ALLOW), clockMark: null },
    recovery(500),
    { deadlines: { queue: 32_500 }, clockMark: 2_000 },
  ],
  ['a start, an offer', offered, recovery(), { granted: true, deadlines: { resume: 122_000 } }],
  ['a start, what may be repeated', plainReading, recovery(), { deadlines: { resume: 32_000 } }],
  ['a start, a tool with effects', runningHere, recovery(), { error: { code: 'interrupted' } }],
  [
    'a start, an approval of before',
    { ...stateAfter(here, ASK), clockMark: null },
    recovery(500),
    { phase: 'approval' },
  ],
  [
    'more time',
    granted,
    { type: 'extended', byMs: 1_000 },
    { timeoutMs: 31_000, deadlines: { execute: 33_000 }, routing: { hasOwnTimeout: true } },
  ],
  [
    'time for a tool that is at work, of which half is over',
    changed(granted, { startedAt: 2_000, deadlines: { ...granted.deadlines, execute: 6_000 } }),
    { type: 'extended', ownMs: 10_000, mostMs: 60_000 },
    { deadlines: { execute: 12_000 } },
  ],
  ['less time', granted, { type: 'extended', byMs: -1_000 }, { deadlines: { execute: 32_000 } }],
  [
    'too much time',
    granted,
    { type: 'extended', byMs: 1e12 },
    { deadlines: { execute: 2_000 + LIMITS.maxTimeoutMs } },
  ],
])('[CE1] what becomes of the record: %s', (_name, call, event, record) => {
  expect(decided(call, event).record).toMatchObject(record);
});

describe('a wall clock that is not the steady one', () => {
  const now: Moment = { wall: 9_000_000, steady: 2_000 };

  test('[CK3] deadlines are on the steady clock, and what people are shown is of the wall clock', () => {
    const allowed = decide(fresh(), ALLOW, now);
    if (!allowed.ok) throw new Error('refused');
    const { record } = allowed;
    expect(record).toMatchObject({
      queuedAt: 9_000_000,
      deadlines: { queue: 2_000 + CLOCKS.queueMs },
      clockMark: 2_000,
      card: { clock: { name: 'queue', deadline_at: (9_000_000 + CLOCKS.queueMs) / 1_000 } },
    });
  });

  test('[CK3] a card is shown with its deadline on the wall clock as it is now', () => {
    const later = { wall: now.wall + 3_600_000, steady: 3_000 };
    const call = stateAfter(fresh(), ALLOW);
    const shown = shownAt(call, later);
    expect(shown.card.clock?.deadline_at).toBe((32_000 - later.steady + later.wall) / 1_000);
    expect(shownAt(shown, later)).toBe(shown);
    expect(shownAt(ended, later)).toBe(ended);
  });
});

test('a late answer that is no news is kept, and not shown; an output after it is both', () => {
  const { record, update } = decided(ended, late('stopped'));
  expect([record.lateResult, record.card.late_result, update]).toEqual([
    { error: STOPPED },
    undefined,
    {},
  ]);
  expect(decided(record, late('late'))).toMatchObject({
    record: { lateResult: 'late' },
    update: { late_result: true },
  });
});

describe('while a call that works for it waits for a person', () => {
  const inside = { source: 'server', toolProvider: 'server' } as const;
  const waits = (isWaiting: boolean): CallEvent => ({ type: 'below_waits', isWaiting });
  const running = stateAfter(fresh(inside), ALLOW, { type: 'started_here' });
  const halted = decided(running, waits(true), 12_000).record;

  test('[CE7] the execute clock of a call of the server stands, and goes on where it stood', () => {
    expect(running.deadlines).toEqual({ execute: 32_000 });
    expect(halted.deadlines).toEqual({ executeLeftMs: 20_000 });
    expect(halted.card.clock).toEqual({
      name: 'execute',
      deadline_at: null,
      remaining_ms: 20_000,
    });
    const after = decided(halted, waits(false), 700_000).record;
    expect(after.deadlines).toEqual({ execute: 720_000 });
    expect(after.card.clock).toEqual({ name: 'execute', deadline_at: 720 });
  });

  test('[CE7] that is so once, for what runs here alone', () => {
    for (const [call, event] of [
      [halted, waits(true)],
      [running, waits(false)],
      [granted, waits(true)],
      [decided(halted, { type: 'cancelled', reason: 'enough' }).record, waits(false)],
    ] as const) {
      expect(decide(call, event, at(12_000))).toEqual({ ok: false, refusal: 'not_possible_now' });
    }
  });

  test('[CE7] it is not put off while it stands, and runs after a restart that makes the call again', () => {
    expect(decide(halted, { type: 'extended', byMs: 1 }, at(12_000)).ok).toBe(false);
    const repeated = { ...halted, annotations: { readOnlyHint: true } };
    const after = decided(repeated, { type: 'recovered', shiftMs: 0 }, 50_000).record;
    expect(after.deadlines).toEqual({ execute: 70_000 });
  });
});
