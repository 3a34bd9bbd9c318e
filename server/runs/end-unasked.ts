import { abortable } from '#lib/util/abortable';
import { SHUTTING_DOWN, type TurnEnd } from './agent/agent.ts';
import type { TurnError } from './agent/describe-model-error.ts';
import type { OpenedModel } from './agent/models.ts';
import { failure, type Notice } from './agent/notices.ts';
import { stoppedEnd } from './agent/stopped-end.ts';
import type { LiveRun } from './live-run.ts';

/** Undefined when the turn was stopped while it waited for its model. */
export async function opening(
  opened: Promise<OpenedModel>,
  signal: AbortSignal,
): Promise<OpenedModel | undefined> {
  try {
    return await abortable(signal, opened);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

export async function endStopped(run: LiveRun, signal: AbortSignal): Promise<TurnEnd> {
  if (signal.reason === SHUTTING_DOWN) return { status: 'suspended' };
  return endWith(run, stoppedEnd(signal));
}

export const endFailed = (run: LiveRun, error: TurnError): Promise<TurnEnd> =>
  endWith(run, { notice: failure(error), end: { status: 'failed', error } });

/** The end of a turn whose model was not asked: the notice is all that it writes. */
export async function endWith(
  run: LiveRun,
  { notice, end }: { notice: Notice; end: TurnEnd },
): Promise<TurnEnd> {
  const writer = await run.beginMessage();
  writer.addNotice(notice);
  await writer.end();
  return end;
}
