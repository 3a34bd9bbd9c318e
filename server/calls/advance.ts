import { boundCard, boundUpdate } from '#lib/call/bound-card';
import type { CallEvent, CallState, Refusal } from '#lib/call/call-machine';
import { transition } from '#lib/call/call-machine';
import { type CallRecord, isPolling, type Provider } from '#lib/call/call-record';
import { mergeCard } from '#lib/call/merge-card';
import { toCardStatus } from '#lib/protocol/call-status';
import type { Card, CardUpdate } from '#lib/protocol/card';
import { CLOCKS } from '#lib/protocol/limits';
import { describeChange } from './describe-change.ts';

export const NO_DEADLINES: CallRecord['deadlines'] = {
  approval: null,
  queue: null,
  start: null,
  execute: null,
  resume: null,
  cancel: null,
};

export type Advance =
  | { readonly ok: true; readonly record: CallRecord; readonly update: CardUpdate }
  | { readonly ok: false; readonly refusal: Refusal };

/** What an event brings besides the transition itself. */
export interface AdvanceExtras {
  readonly fields?: Partial<
    Pick<
      CallRecord,
      | 'args'
      | 'result'
      | 'display'
      | 'resultHash'
      | 'attachments'
      | 'card'
      | 'annotations'
      | 'timeoutMs'
      | 'source'
      | 'wantedClientId'
      | 'routing'
    >
  >;
  /** The pinned provider, with what the machine does not need to know of it. */
  readonly provider?: Provider;
  readonly update?: CardUpdate;
}

/** The next record of a call, its clocks set, and what its watchers are told. Pure. */
export function advance(
  record: CallRecord,
  event: CallEvent,
  now: number,
  extras: AdvanceExtras = {},
): Advance {
  const moved = transition(toState(record), event);
  if (!moved.ok) return moved;
  const provider = moved.provider && {
    journalEpoch: record.provider?.journalEpoch ?? null,
    ...moved.provider,
    ...extras.provider,
  };
  const before: CallRecord = {
    ...record,
    ...extras.fields,
    status: moved.status,
    phase: moved.phase,
    granted: moved.granted,
    provider,
    error: moved.error ?? record.error,
  };
  const next = withClocks(record, before, now);
  const update = boundUpdate(record.card, { ...describeChange(record, next), ...extras.update });
  return { ok: true, record: { ...next, card: mergeCard(record.card, update) }, update };
}

const toState = (record: CallRecord): CallState => ({
  status: record.status,
  phase: record.phase,
  source: record.source,
  provider: record.provider,
  granted: record.granted,
  rerunnable: isRerunnable(record),
});

export const isRerunnable = ({ annotations }: Pick<CallRecord, 'annotations'>): boolean =>
  annotations.readOnlyHint === true || annotations.idempotentHint === true;

/**
 * Whether its client, once back, can prove what became of it. One without a
 * journal cannot, once the call is its own: its first answer counts until the
 * clock runs out.
 */
export const hasJournal = ({ provider, granted }: Pick<CallRecord, 'provider' | 'granted'>) =>
  provider === null || (provider.claims && !(granted && isPolling(provider)));

/** Sets and stops the clocks of the contract, section 2, as the phase changes. */
function withClocks(prev: CallRecord, next: CallRecord, now: number): CallRecord {
  if (prev.phase === next.phase && prev.status === next.status && prev.provider === next.provider) {
    return next;
  }
  const isBackFromDevice = prev.phase === 'device' && next.phase !== 'device';
  return runningClocks(
    prev,
    isBackFromDevice ? { ...next, deviceLeftMs: deviceLeft(prev, now) } : next,
    now,
  );
}

/** Of the time in which the person at the device may be asked, in sum (CK6). */
function deviceLeft({ phase, deadlines, deviceLeftMs }: CallRecord, now: number): number {
  const left = deviceLeftMs ?? CLOCKS.approvalMs;
  return phase === 'device' ? Math.max(0, (deadlines.approval ?? now) - now) : left;
}

function runningClocks(prev: CallRecord, next: CallRecord, now: number): CallRecord {
  const { deadlines } = prev;
  switch (next.phase) {
    case null:
      return { ...next, deadlines: NO_DEADLINES, executeLeftMs: null, completedAt: now };
    case 'streaming':
      return next;
    case 'approval':
      return { ...next, deadlines: { ...NO_DEADLINES, approval: now + CLOCKS.approvalMs } };
    case 'queued':
      return {
        ...next,
        queuedAt: now,
        deadlines: { ...NO_DEADLINES, queue: now + CLOCKS.queueMs },
      };
    case 'offered':
      return offeredClocks(prev, next, now);
    case 'granted': {
      const left =
        prev.phase === 'device' ? (prev.executeLeftMs ?? next.timeoutMs) : next.timeoutMs;
      return {
        ...next,
        startedAt: prev.startedAt ?? now,
        executeLeftMs: null,
        deadlines: { ...NO_DEADLINES, execute: deadlines.execute ?? now + left },
      };
    }
    case 'device':
      // The client came back while its person is being asked: that clock goes on.
      if (prev.phase === 'device') return { ...next, deadlines: { ...deadlines, resume: null } };
      return {
        ...next,
        executeLeftMs: Math.max(0, (deadlines.execute ?? now) - now),
        deadlines: { ...NO_DEADLINES, approval: now + deviceLeft(prev, now) },
      };
    case 'cancelling':
      if (prev.phase === 'cancelling')
        return { ...next, deadlines: { ...deadlines, resume: null } };
      return { ...next, deadlines: { ...NO_DEADLINES, cancel: now + CLOCKS.cancelMs } };
  }
}

function offeredClocks(prev: CallRecord, next: CallRecord, now: number): CallRecord {
  const offered = { ...next, offeredAt: now, executeLeftMs: null };
  if (next.provider?.claims) {
    const queue = prev.deadlines.queue ?? now + CLOCKS.queueMs;
    // One that polls takes it when it asks next, and has the queue's time for that.
    const start = isPolling(next.provider) ? null : now + CLOCKS.startMs;
    // Granted before: its time runs on, so that no client holds it open by coming back (CK7).
    const execute = prev.granted ? executeDeadline(prev, now) : prev.deadlines.execute;
    return { ...offered, deadlines: { ...NO_DEADLINES, queue, start, execute } };
  }
  // A client that does not claim may run it from now on, so its time runs from now on, once.
  const execute = executeDeadline(prev, now);
  return { ...offered, startedAt: prev.startedAt ?? now, deadlines: { ...NO_DEADLINES, execute } };
}

const executeDeadline = ({ deadlines, executeLeftMs, timeoutMs }: CallRecord, now: number) =>
  deadlines.execute ?? now + (executeLeftMs ?? timeoutMs);

/** The first card of a call, before anything happened to it. */
export const firstCard = (record: Omit<CallRecord, 'card'>, displayName: string | null): Card => ({
  status: toCardStatus(record.status),
  phase: record.phase,
  ...boundCard({ params: { ...record.args } }),
  tool_name: record.toolName,
  display_name: displayName,
  source: record.source,
  attempt: 0,
  timeout_ms: record.timeoutMs,
  created_at: record.createdAt / 1000,
  ...(record.retryOf === null ? {} : { retry_of: record.retryOf }),
});
