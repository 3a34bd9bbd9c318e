import type { CallRecord } from '#lib/call/call-record';
import { type CallClock, toCardStatus } from '#lib/protocol/call-status';
import type { CardUpdate } from '#lib/protocol/card';
import { isFinalStatus } from '#lib/protocol/is-final-status';

/** What people are told when a call goes from `prev` to `next`. Pure; says only what changed. */
export function describeChange(prev: CallRecord, next: CallRecord): CardUpdate {
  const update: CardUpdate = {};
  if (prev.status !== next.status) update.status = toCardStatus(next.status);
  if (prev.phase !== next.phase) update.phase = next.phase;
  if (prev.phase === 'streaming' && next.phase !== 'streaming') update.partial = false;
  if (prev.args !== next.args) Object.assign(update, wholeParams(next));
  if (prev.provider?.clientId !== next.provider?.clientId) {
    update.client_id = next.provider?.clientId ?? null;
  }
  if (prev.provider?.attempt !== next.provider?.attempt) {
    update.attempt = next.provider?.attempt ?? 0;
  }
  if (prev.startedAt !== next.startedAt) update.started_at = toSeconds(next.startedAt);
  if (prev.timeoutMs !== next.timeoutMs) update.timeout_ms = next.timeoutMs;
  if (prev.deadlines !== next.deadlines) update.clock = runningClock(next);
  if (isFinalStatus(next.status)) describeEnd(update, next);
  return update;
}

/** The arguments as their executor gets them; what was shown of others is not kept. */
const wholeParams = ({ args, card }: CallRecord): CardUpdate => ({
  params: { ...args },
  params_whole: true,
  ...(card.argument_names ? { argument_names: Object.keys(args) } : {}),
});

function describeEnd(update: CardUpdate, next: CallRecord): void {
  update.completed_at = toSeconds(next.completedAt);
  if (next.error) update.error = next.error;
  if (next.attachments.length > 0) update.attachments = [...next.attachments];
  if (!next.error) update.result = next.display === undefined ? next.result : next.display;
}

type RunningClock = { name: CallClock; deadline_at: number };

/** The clock that a card shows: the one that ends the phase the call is in, of two the sooner. */
export function runningClock(record: CallRecord): CardUpdate['clock'] {
  const { deadlines, phase } = record;
  const clock = (name: CallClock, deadline: number | null): RunningClock | null =>
    deadline === null ? null : { name, deadline_at: deadline / 1000 };
  if (deadlines.resume !== null) return clock('resume', deadlines.resume);
  switch (phase) {
    case 'approval':
      return clock('approval', deadlines.approval);
    case 'queued':
      return clock('queue', deadlines.queue);
    case 'offered':
      return record.provider?.claims
        ? sooner(
            clock('execute', deadlines.execute),
            sooner(clock('start', deadlines.start), clock('queue', deadlines.queue)),
          )
        : clock('execute', deadlines.execute);
    case 'granted':
      return clock('execute', deadlines.execute);
    case 'device':
      return { name: 'execute', deadline_at: null, remaining_ms: record.executeLeftMs ?? 0 };
    case 'cancelling':
      return clock('cancel', deadlines.cancel);
    case 'streaming':
    case null:
      return null;
  }
}

const sooner = (one: RunningClock | null, other: RunningClock | null): RunningClock | null =>
  one && (!other || one.deadline_at < other.deadline_at) ? one : other;

const toSeconds = (ms: number | null): number | null => (ms === null ? null : ms / 1000);
