import { isFinalStatus } from '#lib/protocol/is-final-status';
import { CLOCKS } from '#lib/protocol/limits';
import { type ClientKnowledge, resumeAction } from '#lib/tool-call/resume-matrix';
import type { Clock } from '../clock.ts';
import type { CallRecord } from '../store/call-record.ts';
import { isRerunnable } from './advance.ts';
import type { CallIndex } from './call-index.ts';
import type { CallLedger } from './call-ledger.ts';
import { runningClock } from './describe-change.ts';
import type { Dispatcher } from './dispatcher.ts';

export interface ReturningInstance {
  readonly clientId: string;
  /** The instance that had the calls; a client without instance ids gets a new one each time. */
  readonly previousInstanceId: string;
  readonly instanceId: string;
  readonly journalEpoch: string | null;
  readonly known: readonly { id: string; attempt: number; phase: 'running' | 'started' | 'done' }[];
}

/** Calls when client instances go, come back, or offer other tools. */
export interface InstanceChanges {
  gone(instanceId: string): void;
  /** Resolves with what the client may forget and shall stop. */
  back(instance: ReturningInstance): Promise<{ forget: string[]; cancel: string[] }>;
  /** Its tools stand: what waited for it is offered. */
  toolsChanged(instanceId: string): void;
  /** Whether open calls are pinned to it, here or away. */
  holdsCalls(instanceId: string): boolean;
}

export function createInstanceChanges(deps: {
  ledger: CallLedger;
  index: CallIndex;
  dispatcher: Dispatcher;
  clock: Clock;
  onError(error: unknown): void;
}): InstanceChanges {
  const { ledger, index, dispatcher, clock } = deps;
  /** To be offered again once the instance has registered the tool; true: it never started. */
  const owed = new Map<string, Map<string, boolean>>();

  function gone(instanceId: string): void {
    owed.delete(instanceId);
    for (const id of index.pinnedTo(instanceId)) {
      const record = ledger.latest(id);
      if (!record || isFinalStatus(record.status)) continue;
      // Nobody has started it: another client may take it at once.
      if (!record.granted && record.phase === 'offered' && dispatcher.offerAgain(record, false))
        continue;
      waitForReturn(record);
    }
  }

  /**
   * Starts the resume clock. A client without a journal is waited for by the
   * execute clock alone, because its first answer still counts until then.
   */
  function waitForReturn(record: CallRecord): void {
    if (!record.provider?.claims && !isRerunnable(record)) return;
    const resume = clock.now() + CLOCKS.resumeMs;
    const deadlines = { ...record.deadlines, start: null, resume };
    const next = { ...record, deadlines };
    ledger.commit(next, [{ clock: runningClock(next) }]).catch(deps.onError);
  }

  async function back(instance: ReturningInstance) {
    const known = new Map(instance.known.map((one) => [one.id, one]));
    const forget: string[] = [];
    const cancel: string[] = [];
    const mine = index.pinnedTo(instance.previousInstanceId);
    for (const id of new Set([...mine, ...known.keys()])) {
      const record = await ledger.find(id);
      const isMine = record?.provider?.clientId === instance.clientId;
      const action = judge(isMine ? record : undefined, known.get(id), instance);
      if (action === 'forget') forget.push(id);
      else if (action === 'cancel') cancel.push(id);
      if (record && isMine && !isFinalStatus(record.status)) comeBack(record, action, instance);
    }
    return { forget, cancel };
  }

  function judge(
    record: CallRecord | undefined,
    known: ReturningInstance['known'][number] | undefined,
    instance: ReturningInstance,
  ) {
    const sameJournal = record?.provider?.journalEpoch === instance.journalEpoch;
    const client: ClientKnowledge =
      known?.phase ??
      (sameJournal && instance.journalEpoch !== null ? 'nothing' : 'nothing_new_journal');
    if (!record)
      return resumeAction({ server: 'unknown', client, rerunnable: false, claims: true });
    return resumeAction({
      server: isFinalStatus(record.status) ? 'final' : (record.phase ?? 'final'),
      client,
      rerunnable: isRerunnable(record),
      claims: record.provider?.claims ?? true,
    });
  }

  function comeBack(
    record: CallRecord,
    action: ReturnType<typeof resumeAction>,
    instance: ReturningInstance,
  ): void {
    if (action === 'outcome_unknown') {
      const message = 'The client came back, and can no longer tell whether the tool ran';
      dispatcher.apply(record, { type: 'outcome_lost', message });
      return;
    }
    const moved = dispatcher.apply(record, {
      type: 'instance_back',
      instanceId: instance.instanceId,
    });
    if (!moved.ok) return;
    if (action === 'offer') {
      const calls = owed.get(instance.instanceId) ?? new Map<string, boolean>();
      calls.set(record.id, instance.journalEpoch !== null);
      owed.set(instance.instanceId, calls);
      return;
    }
    const deadlines = { ...moved.record.deadlines, resume: null };
    const next = { ...moved.record, deadlines };
    ledger.commit(next, [{ clock: runningClock(next) }]).catch(deps.onError);
  }

  function toolsChanged(instanceId: string): void {
    for (const [id, neverStarted] of owed.get(instanceId) ?? []) {
      const record = ledger.latest(id);
      const settled =
        !record || isFinalStatus(record.status) || dispatcher.offerAgain(record, neverStarted);
      if (settled) owed.get(instanceId)?.delete(id);
    }
    dispatcher.offerWaiting();
  }

  return {
    gone,
    back,
    toolsChanged,
    holdsCalls: (instanceId) => index.pinnedTo(instanceId).length > 0,
  };
}
