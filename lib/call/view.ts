import { withoutText } from '../protocol/attachment.ts';
import type { WireCallRecord } from '../protocol/call-record.ts';
import { toCardStatus } from '../protocol/call-status.ts';
import type { Card, CardUpdate } from '../protocol/card.ts';
import { withEllipsis } from '../text/with-ellipsis.ts';
import { given } from '../util/given.ts';
import type { Call, Ended } from './call.ts';
import { type Moment, runningClock } from './clocks.ts';

const toSeconds = (ms: number | undefined): number | null => (ms === undefined ? null : ms / 1_000);

/**
 * A call's record as HTTP sends it (contract, section 6): of each phase the same fields, null where
 * the call has none yet.
 */
export function toRecord(call: Call): WireCallRecord {
  return {
    tool_call_id: call.id,
    run_id: call.runId,
    tool_name: call.toolName,
    source: call.source,
    ...given({ trusted: call.trusted }),
    status: call.status,
    phase: call.phase,
    args: call.args,
    // `undefined` would drop out of the text; a missing result is sent as null.
    result: call.result ?? null,
    // One that is null was given all the same.
    ...given({ display: call.display, preview: call.preview }),
    error: call.error ?? null,
    attachments: [...call.attachments],
    created_at: call.createdAt / 1_000,
    completed_at: toSeconds(call.completedAt),
    client_id: call.provider?.clientId ?? null,
    attempt: call.provider?.attempt ?? 0,
    timeout_ms: call.timeoutMs,
    timings: {
      queued_at: toSeconds(call.queuedAt),
      offered_at: toSeconds(call.offeredAt),
      started_at: toSeconds(call.startedAt),
      completed_at: toSeconds(call.completedAt),
    },
    late_result: call.lateResult ?? null,
    retry_of: call.retryOf,
    ...given({ model_call_id: call.modelCallId }),
    card: call.card,
  };
}

/** People are shown this when a call goes from `prev` to `next`. Pure; says only what changed. */
export function describeChange(prev: Call, next: Call, now: Moment): CardUpdate {
  const update: CardUpdate = {};
  if (prev.status !== next.status) update.status = toCardStatus(next.status);
  if (prev.phase !== next.phase) update.phase = next.phase;
  const isWritten = prev.phase === 'streaming' && next.phase !== 'streaming';
  if (isWritten)
    Object.assign(update, { partial: false, ...given({ truncated: prev.card.truncated }) });
  if (prev.args !== next.args) Object.assign(update, wholeParams(next));
  // No event before this one has what was shown while they were written.
  else if (isWritten) Object.assign(update, writtenOf(prev.card));
  if (prev.provider?.clientId !== next.provider?.clientId) {
    update.client_id = next.provider?.clientId ?? null;
  }
  if (prev.provider?.attempt !== next.provider?.attempt) {
    update.attempt = next.provider?.attempt ?? 0;
  }
  if (prev.startedAt !== next.startedAt) update.started_at = toSeconds(next.startedAt);
  if (prev.timeoutMs !== next.timeoutMs) update.timeout_ms = next.timeoutMs;
  if (prev.deadlines !== next.deadlines) update.clock = runningClock(next, now);
  if (next.phase === null) describeEnd(update, next);
  return update;
}

const writtenOf = ({ params, params_bytes }: Card): CardUpdate => given({ params, params_bytes });

/** The arguments as their executor gets them; what was shown of others is not kept. */
const wholeParams = ({ args, card }: Call): CardUpdate => ({
  params: { ...args },
  params_whole: true,
  ...(card.argument_names ? { argument_names: Object.keys(args) } : {}),
});

function describeEnd(update: CardUpdate, next: Ended): void {
  update.completed_at = toSeconds(next.completedAt);
  if (next.error) update.error = next.error;
  if (next.attachments.length > 0) update.attachments = next.attachments.map(withoutText);
  if (!next.error) update.result = next.display === undefined ? next.result : next.display;
}

type Shown = Pick<CardUpdate, 'repairs'>;

/** A card stands among hundreds in a snapshot. */
const MOST_PATHS = 10;
const PATH_CHARS = 100;

/** A card shows this of repaired arguments (CA40), after those of `before`; nothing where none were. */
export function shownRepairs(repairs: readonly string[], before?: Shown): Shown {
  if (repairs.length === 0) return {};
  const earlier = before?.repairs;
  const more = repairs.slice(0, MOST_PATHS).map((path) => withEllipsis(path, PATH_CHARS));
  const paths = [...(earlier?.paths ?? []), ...more];
  return {
    repairs: {
      paths: paths.slice(0, MOST_PATHS),
      count: (earlier?.count ?? 0) + repairs.length,
    },
  };
}

/** It is for arguments that a person wrote in place of those of `before`. */
export const shownRepairsOfEdit = (repairs: readonly string[], before: Shown): Shown =>
  repairs.length === 0 && before.repairs ? { repairs: null } : shownRepairs(repairs);
