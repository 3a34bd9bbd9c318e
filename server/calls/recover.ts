import { CLOCKS } from '#lib/protocol/limits';
import type { Clock } from '../clock.ts';
import type { CallRecord } from '../store/call-record.ts';
import type { Store } from '../store/store.ts';
import { isRerunnable } from './advance.ts';
import type { CallLedger } from './call-ledger.ts';
import { runningClock } from './describe-change.ts';
import type { Dispatcher } from './dispatcher.ts';

/**
 * Takes up what was open when the server went away. Deadlines were stored as
 * wall times, so the clocks of waiting calls simply go on; a client's calls
 * wait for it within the resume grace.
 */
export async function recoverCalls(deps: {
  store: Store;
  ledger: CallLedger;
  dispatcher: Dispatcher;
  clock: Clock;
  keepFinal: number;
}): Promise<{ open: number; interrupted: number }> {
  const { store, ledger, dispatcher, clock } = deps;
  const recent = await store.listCalls({ limit: 200 });
  const open = await store.openCalls();
  const isOpen = new Set(open.map(({ id }) => id));
  for (const call of recent.calls.toReversed()) if (!isOpen.has(call.id)) ledger.adopt(call);
  for (const call of open) ledger.adopt(call);

  let interrupted = 0;
  for (const call of open) {
    if (call.phase === 'streaming') {
      interrupted += 1;
      end(call, 'The server stopped while the model was still writing the arguments');
    } else if (call.source === 'client' && call.provider && call.phase !== 'queued') {
      waitForClient(call);
    } else if (call.source === 'server' && call.status === 'RUNNING') {
      interrupted += runAgain(call) ? 0 : 1;
    }
  }
  return { open: open.length, interrupted };

  function end(call: CallRecord, message: string): void {
    dispatcher.apply(call, { type: 'interrupted', message });
  }

  function waitForClient(call: CallRecord): void {
    if (!call.provider?.claims && !isRerunnable(call)) return;
    const deadlines = { ...call.deadlines, start: null, resume: clock.now() + CLOCKS.resumeMs };
    const next = { ...call, deadlines };
    void ledger.commit(next, [{ clock: runningClock(next) }]);
  }

  /** A server tool that only reads is run once more; what another may have done is unknown. */
  function runAgain(call: CallRecord): boolean {
    const placed = isRerunnable(call) ? dispatcher.place({ ...call, phase: 'queued' }) : undefined;
    if (!placed || placed.record.phase === 'queued') {
      end(call, 'The server stopped while the tool was running');
      return false;
    }
    void ledger.commit(placed.record, placed.updates).then(placed.after);
    return true;
  }
}
