import { isFinalStatus } from '#lib/protocol/is-final-status';
import { LIMITS } from '#lib/protocol/limits';
import { abortable, TurnStoppedError } from '../agent/abortable.ts';
import { SHUTTING_DOWN, type TurnEnd } from '../agent/agent.ts';
import type { CallService } from '../calls/call-service.ts';
import type { CallRecord } from '../store/call-record.ts';
import type { LiveRun } from './live-run.ts';

const INTERRUPTED = {
  code: 'interrupted',
  message: 'The server was restarted during this turn. Send a message to go on.',
};

/** More calls than any turn makes. */
const MOST_CALLS = 200;

/**
 * Sets a turn right that a restart cut short (rules RU10 to RU13). Calls
 * survive a restart, so they are waited for; the model is not asked again,
 * since nobody may be there who still wants the answer.
 */
export async function recoverTurn(
  run: LiveRun,
  deps: { calls: CallService; onDefect: (error: unknown) => void },
  signal: AbortSignal,
): Promise<TurnEnd> {
  const calls = await callsOf(run, deps.calls);
  const writer = run.beginMessage();
  const told = new Set(
    run
      .messages()
      .flatMap(({ parts }) =>
        parts.flatMap((part) => (part.type === 'tool_call' ? [part.tool_call_id] : [])),
      ),
  );
  // Recorded, and lost from the message that was being written.
  for (const call of calls) if (!told.has(call.id)) writer.addCall(call.id);
  const open = calls.filter((call) => !isFinalStatus(call.status));
  try {
    await abortable(Promise.all(open.map((call) => waitFor(call, deps.calls, signal))), signal);
  } catch (error) {
    if (!(error instanceof TurnStoppedError)) throw error;
    // Taken up again by the next start, as if this one had not been.
    if (signal.reason !== SHUTTING_DOWN) {
      for (const call of open) {
        deps.calls.cancel(call.id, 'The run was stopped.').catch(deps.onDefect);
      }
      writer.addNotice('cancelled', 'Stopped.');
      await writer.end();
      return { status: 'cancelled' };
    }
  }
  writer.addNotice(INTERRUPTED.code, INTERRUPTED.message);
  await writer.end();
  return { status: 'failed', error: INTERRUPTED };
}

/** Those of the run's own agent, oldest first; not what a person retried by hand. */
async function callsOf(run: LiveRun, calls: CallService): Promise<CallRecord[]> {
  const { calls: found } = await calls.list({ runId: run.runId, limit: MOST_CALLS });
  const own = found.filter((call) => call.requestedBy === `run:${run.runId}` && !call.retryOf);
  return own.toSorted((a, b) => a.createdAt - b.createdAt);
}

async function waitFor(call: CallRecord, calls: CallService, signal: AbortSignal): Promise<void> {
  let record: CallRecord | undefined = call;
  while (record && !isFinalStatus(record.status) && !signal.aborted) {
    record = await calls.wait(call.id, LIMITS.waitMs, signal);
  }
}
