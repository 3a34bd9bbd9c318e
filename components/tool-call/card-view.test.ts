import { expect, test } from 'vitest';
import type { CallErrorCode } from '#lib/protocol/call-status';
import type { Card } from '#lib/protocol/card';
import { cardTime, cardView } from './card-view.ts';

const cardOf = (more: Partial<Card>): Card => ({
  params: {},
  tool_name: 'camera.photo',
  created_at: 1_000,
  timeout_ms: 30_000,
  ...more,
});

const failedWith = (
  code: CallErrorCode,
  executed: 'no' | 'yes' | 'unknown' = 'no',
): Partial<Card> => ({ status: 'ERROR', error: { code, message: 'so it is', executed } });

test.each<[Partial<Card>, string]>([
  [{ status: 'WAIT', phase: 'streaming' }, 'streaming'],
  [{ status: 'WAIT', phase: null, partial: true }, 'streaming'],
  [{ status: 'WAIT', phase: 'approval' }, 'approval'],
  [{ status: 'WAIT', phase: 'queued' }, 'queued'],
  [{ status: 'DOING', phase: 'offered' }, 'offered'],
  [{ status: 'DOING', phase: 'granted' }, 'running'],
  [{ status: 'DOING', phase: 'device' }, 'device'],
  [{ status: 'DOING', phase: 'cancelling' }, 'cancelling'],
  [{ status: 'SUCCESS' }, 'done'],
  [{ status: 'ERROR' }, 'failed'],
  [failedWith('tool_error'), 'failed'],
  [failedWith('timeout'), 'timeout'],
  [failedWith('denied'), 'denied'],
  [failedWith('approval_expired'), 'expired'],
  [failedWith('cancelled'), 'cancelled'],
  [failedWith('client_disconnected'), 'disconnected'],
  [failedWith('outcome_unknown'), 'unknown'],
  [failedWith('interrupted'), 'unknown'],
  [failedWith('invalid_args'), 'invalid'],
  [failedWith('no_provider'), 'noProvider'],
  [failedWith('result_invalid'), 'badResult'],
  [failedWith('result_too_large'), 'badResult'],
])('[CD1] %j looks like %s', (more, kind) => {
  expect(cardView(cardOf(more)).kind).toBe(kind);
});

test('[CD14] a sent call runs once its execute clock does', () => {
  const sent = (name: 'queue' | 'execute') =>
    cardView(cardOf({ status: 'DOING', phase: 'offered', clock: { name, deadline_at: 1_030 } }));
  expect([sent('queue').kind, sent('execute').kind]).toEqual(['offered', 'running']);
});

test('[CD2] only approval asks for attention; denied and cancelled are neutral', () => {
  expect(cardView(cardOf({ status: 'WAIT', phase: 'approval' })).tone).toBe('attn');
  expect(cardView(cardOf({ status: 'WAIT', phase: 'queued' })).tone).toBe('wait');
  expect(cardView(cardOf(failedWith('denied'))).tone).toBe('cancel');
  expect(cardView(cardOf(failedWith('cancelled'))).tone).toBe('cancel');
  expect(cardView(cardOf(failedWith('tool_error'))).tone).toBe('error');
});

test('[CD3] an open call may be cancelled, but not while it is being written, and not twice', () => {
  const mayCancel = (more: Partial<Card>) => cardView(cardOf(more)).actions.cancel;
  expect(mayCancel({ status: 'WAIT', phase: 'queued' })).toBe(true);
  expect(mayCancel({ status: 'DOING', phase: 'granted' })).toBe(true);
  expect(mayCancel({ status: 'WAIT', phase: 'streaming' })).toBe(false);
  expect(mayCancel({ status: 'DOING', phase: 'cancelling' })).toBe(false);
  expect(mayCancel({ status: 'SUCCESS' })).toBe(false);
});

test('[CD4] while the resume clock runs the client is away, unless the call is being stopped', () => {
  const clock = { name: 'resume', deadline_at: 1_100 } as const;
  expect(cardView(cardOf({ status: 'DOING', phase: 'granted', clock })).kind).toBe('away');
  expect(cardView(cardOf({ status: 'DOING', phase: 'cancelling', clock })).kind).toBe('cancelling');
});

test('[CD16] more time is offered while the execute clock runs, seen or not', () => {
  const mayExtend = (phase: Card['phase'], clock: Card['clock']) =>
    cardView(cardOf({ status: 'DOING', phase, clock })).actions.extend;
  expect(mayExtend('granted', { name: 'execute', deadline_at: 1_030 })).toBe(true);
  expect(mayExtend('offered', { name: 'execute', deadline_at: 1_030 })).toBe(true);
  expect(mayExtend('granted', { name: 'resume', deadline_at: 1_030 })).toBe(true);
  expect(mayExtend('device', { name: 'resume', deadline_at: 1_030 })).toBe(false);
  expect(mayExtend('device', { name: 'execute', deadline_at: null })).toBe(false);
  expect(mayExtend('offered', { name: 'queue', deadline_at: 1_030 })).toBe(false);
  expect(mayExtend('cancelling', { name: 'resume', deadline_at: 1_030 })).toBe(false);
});

test('[CD5] retry is for final calls, and warns where the tool ran or may have run', () => {
  const live = cardView(cardOf({ status: 'DOING', phase: 'granted' }));
  expect(live.actions.retry).toBe(false);
  const unknown = cardView(cardOf(failedWith('outcome_unknown', 'unknown')));
  expect([unknown.actions.retry, unknown.mayRepeat]).toEqual([true, true]);
  expect(cardView(cardOf(failedWith('denied', 'no'))).mayRepeat).toBe(false);
  expect(cardView(cardOf({ status: 'SUCCESS' })).mayRepeat).toBe(true);
  expect(cardView(cardOf(failedWith('result_too_large', 'yes'))).mayRepeat).toBe(true);
  expect(cardView(cardOf(failedWith('tool_error', 'yes'))).mayRepeat).toBe(false);
});

const running = (more: Partial<Card>) =>
  cardOf({ status: 'DOING', phase: 'granted', started_at: 1_000, ...more });

test('[CD6] a final card shows how long it ran, from its start', () => {
  const done = cardOf({ status: 'SUCCESS', started_at: 1_000.5, completed_at: 1_001.312 });
  const time = cardTime(done, 9e9);
  expect(time.kind).toBe('ran');
  expect(time.kind === 'ran' && Math.round(time.elapsedMs)).toBe(812);
});

test('[CD6] one that never started counts from its creation', () => {
  const denied = cardOf({ ...failedWith('denied'), started_at: null, completed_at: 1_004 });
  expect(cardTime(denied, 9e9)).toEqual({ kind: 'waited', elapsedMs: 4_000 });
  expect(cardTime(cardOf({ status: 'SUCCESS' }), 9e9)).toEqual({ kind: 'none' });
});

test('[CD7] time in which the clock stood still does not count as elapsed', () => {
  // Started at 1,000 s, stood still for 60 s, so it ends at 1,090 s.
  const card = running({ clock: { name: 'execute', deadline_at: 1_090 } });
  expect(cardTime(card, 1_070_000)).toMatchObject({
    kind: 'running',
    elapsedMs: 10_000,
    limitMs: 30_000,
  });
  const asking = running({ clock: { name: 'execute', deadline_at: null, remaining_ms: 22_000 } });
  expect(cardTime(asking, 5e9)).toEqual({ kind: 'paused', elapsedMs: 8_000, limitMs: 30_000 });
});

test('[CD7] more time left than the limit shows the longer limit', () => {
  const card = running({ clock: { name: 'execute', deadline_at: 1_060 } });
  expect(cardTime(card, 1_005_000)).toMatchObject({ limitMs: 55_000, elapsedMs: 0 });
});

test('[CD8] from 80 % of the limit on the clock warns', () => {
  const card = running({ clock: { name: 'execute', deadline_at: 1_030 } });
  expect(cardTime(card, 1_023_900)).toMatchObject({ isLate: false });
  expect(cardTime(card, 1_024_000)).toMatchObject({ isLate: true, leftMs: 6_000 });
});

test.each(['approval', 'queue', 'start', 'cancel', 'resume'] as const)(
  '[CD9] the %s clock counts down, never below zero',
  (name) => {
    const card = cardOf({ status: 'WAIT', clock: { name, deadline_at: 1_010 } });
    expect(cardTime(card, 1_004_000)).toEqual({ kind: 'left', clock: name, leftMs: 6_000 });
    expect(cardTime(card, 1_099_000)).toEqual({ kind: 'left', clock: name, leftMs: 0 });
  },
);

test('[CD9] without a clock the card shows how long it has waited', () => {
  expect(cardTime(cardOf({ status: 'WAIT' }), 1_002_500)).toEqual({
    kind: 'elapsed',
    elapsedMs: 2_500,
  });
  expect(cardTime(cardOf({ status: 'WAIT' }), 0)).toEqual({ kind: 'elapsed', elapsedMs: 0 });
});
