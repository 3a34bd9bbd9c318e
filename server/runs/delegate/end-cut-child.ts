import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { CallService } from '../../calls/call-service.ts';
import type { Logger } from '../../logger.ts';
import { SHUTTING_DOWN, type TurnEnd } from '../agent/agent.ts';
import type { Notice } from '../agent/notices.ts';
import { namedCalls } from '../agent/turn-messages.ts';
import type { LiveRun } from '../live-run.ts';
import { callsOf } from '../recover-turn.ts';

const CUT: Notice = {
  code: 'cancelled',
  text: 'The server was restarted while the sub-agent worked; it does not go on.',
};

/**
 * Ends a sub-agent's turn that a restart cut (DE9): the call that it worked for has ended without its
 * answer, as a call of a tool with effects does. Its open calls are cancelled.
 */
export async function endCutChild(
  run: LiveRun,
  { calls, logger }: { calls: CallService; logger: Logger },
  signal: AbortSignal,
): Promise<TurnEnd> {
  const own = await callsOf(run, calls);
  if (signal.reason === SHUTTING_DOWN) return { status: 'suspended' };
  const named = namedCalls(run.messages());
  const writer = await run.beginMessage();
  for (const { id } of own) if (!named.has(id)) writer.addCall(id);
  for (const { id, runId, status } of own) {
    if (isFinalStatus(status)) continue;
    calls.cancel(id, 'The server was restarted.', `run:${runId}`).catch(logger.error);
  }
  writer.addNotice(CUT);
  await writer.end();
  return { status: 'cancelled' };
}
