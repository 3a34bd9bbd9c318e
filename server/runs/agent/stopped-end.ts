import { isRecord } from '#lib/json/is-record';
import { OWNER_REVOKED, type TurnEnd, WorkNotWanted } from './agent.ts';
import type { TurnError } from './describe-model-error.ts';
import { failure, type Notice, stopped } from './notices.ts';

const REVOKED: TurnError = {
  code: 'owner_revoked',
  message: 'The token of the owner of this run was revoked; nothing more is done in its name.',
};

/** The notice and the end of a turn whose owner may do nothing any more. */
export const REVOKED_END = {
  notice: failure(REVOKED),
  end: { status: 'failed', error: REVOKED },
} as const satisfies StoppedEnd;

interface StoppedEnd {
  readonly notice: Notice;
  readonly end: TurnEnd;
}

/** Of a turn that was stopped, but not by the end of the server. */
export const stoppedEnd = (signal: AbortSignal): StoppedEnd =>
  signal.reason === OWNER_REVOKED
    ? REVOKED_END
    : { notice: stopped(stopperOf(signal)), end: { status: 'cancelled' } };

/** The name of who stopped the turn, where that is known. */
export function stopperOf({ reason }: AbortSignal): string | undefined {
  const by: unknown = isRecord(reason) ? reason.stoppedBy : undefined;
  return typeof by === 'string' ? by : undefined;
}

/** Why the calls of such a turn are cancelled. */
export const stoppedWords = ({ reason }: AbortSignal): string =>
  reason instanceof WorkNotWanted ? reason.message : 'The run was stopped.';
