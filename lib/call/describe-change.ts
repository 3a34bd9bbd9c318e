import { withoutText } from '../protocol/attachment.ts';
import { toCardStatus } from '../protocol/call-status.ts';
import type { Card, CardUpdate } from '../protocol/card.ts';
import type { Call, Ended } from './call.ts';
import { type Moment, runningClock } from './clocks.ts';

/** People are shown this when a call goes from `prev` to `next`. Pure; says only what changed. */
export function describeChange(prev: Call, next: Call, now: Moment): CardUpdate {
  const update: CardUpdate = {};
  if (prev.status !== next.status) update.status = toCardStatus(next.status);
  if (prev.phase !== next.phase) update.phase = next.phase;
  const isWritten = prev.phase === 'streaming' && next.phase !== 'streaming';
  if (isWritten) Object.assign(update, { partial: false, ...given(prev.card, ['truncated']) });
  if (prev.args !== next.args) Object.assign(update, wholeParams(next));
  // No event before this one has what was shown while they were written.
  else if (isWritten) Object.assign(update, given(prev.card, ['params', 'params_bytes']));
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

const given = (card: Card, names: readonly (keyof Card)[]): CardUpdate =>
  Object.fromEntries(
    names.flatMap((name) => (card[name] === undefined ? [] : [[name, card[name]]])),
  );

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

const toSeconds = (ms: number | undefined): number | null => (ms === undefined ? null : ms / 1000);
