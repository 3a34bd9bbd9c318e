import { isRecord } from '#lib/json/is-record';
import { type MessageWriter, OWNER_REVOKED, type TurnEnd, WorkNotWanted } from './agent.ts';
import type { TurnError } from './describe-model-error.ts';
import { failure, type Notice, stopped } from './notices.ts';

/** The end of a turn, with the notice that says it to people. */
export interface NotedEnd {
  readonly notice: Notice;
  readonly end: TurnEnd;
}

export const failedEnd = (error: TurnError): NotedEnd => ({
  notice: failure(error),
  end: { status: 'failed', error },
});

export const REVOKED: TurnError = {
  code: 'owner_revoked',
  message: 'The token of the owner of this run was revoked; nothing more is done in its name.',
};

/** Of a turn that was stopped, but not by the end of the server. */
export const stoppedEnd = (signal: AbortSignal): NotedEnd =>
  signal.reason === OWNER_REVOKED
    ? failedEnd(REVOKED)
    : { notice: stopped(stopperOf(signal)), end: { status: 'cancelled' } };

/** The notice is the last that the turn writes. */
export async function endWith(writer: MessageWriter, { notice, end }: NotedEnd): Promise<TurnEnd> {
  writer.addNotice(notice);
  await writer.end();
  return end;
}

/** The name of who stopped the turn, where that is known. */
export function stopperOf({ reason }: AbortSignal): string | undefined {
  const by: unknown = isRecord(reason) ? reason.stoppedBy : undefined;
  return typeof by === 'string' ? by : undefined;
}

/** Why the calls of such a turn are cancelled. */
export const stoppedWords = ({ reason }: AbortSignal): string =>
  reason instanceof WorkNotWanted ? reason.message : 'The run was stopped.';
