import type { NeverStarted } from '#lib/call/call-machine';
import type { CallRecord } from '#lib/call/call-record';
import { type ClientKnowledge, type ResumeAction, resumeAction } from '#lib/call/resume-matrix';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { CLOCKS } from '#lib/protocol/limits';
import type { Clock } from '../clock.ts';
import { hasJournal, isRerunnable } from './advance.ts';
import type { Breaker } from './breaker.ts';
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
  /** Somebody may be asked again: whatever waits is offered. */
  offerAll(): void;
  /** Whether the instance is to get this call under a newer attempt, as soon as it has the tool. */
  hasGivenUp(instanceId: string, callId: string, attempt: number): boolean;
  /** Whether open calls are pinned to it, here or away. */
  holdsCalls(instanceId: string): boolean;
}

/** An offer that waits for the client's tool. */
interface OwedOffer {
  /** The one before, which is given up (CB8). */
  readonly attempt: number;
  /** It, where the client's journal proves that it was never started. */
  readonly neverStarted: NeverStarted | undefined;
}

type Known = ReturningInstance['known'][number];

/**
 * A call is of the instance that was asked, which its token has proved: to name a
 * call is no ownership, and what a journal has of an older attempt says nothing of
 * the one that counts now.
 */
function holding(
  record: CallRecord | undefined,
  known: Known | undefined,
  { clientId, previousInstanceId }: ReturningInstance,
): { isMine: boolean; known: Known | undefined } {
  const provider = record?.provider;
  const isMine = provider?.clientId === clientId && provider.instanceId === previousInstanceId;
  if (!record || !isMine) return { isMine: false, known };
  const isOfThis = known?.attempt === provider.attempt || isFinalStatus(record.status);
  return { isMine, known: isOfThis ? known : undefined };
}

function knowledgeOf(
  record: CallRecord | undefined,
  known: Known | undefined,
  { journalEpoch }: ReturningInstance,
): ClientKnowledge {
  if (known) return known.phase;
  const isSameJournal = journalEpoch !== null && record?.provider?.journalEpoch === journalEpoch;
  return isSameJournal ? 'nothing' : 'nothing_new_journal';
}

function actionFor(record: CallRecord | undefined, client: ClientKnowledge): ResumeAction {
  if (!record) return resumeAction({ server: 'unknown', client, rerunnable: false, claims: true });
  return resumeAction({
    server: isFinalStatus(record.status) ? 'final' : (record.phase ?? 'final'),
    client,
    rerunnable: isRerunnable(record),
    claims: hasJournal(record),
  });
}

/** The resume clock runs, never past the clock that ends the call anyway. */
export function awaitingReturn(record: CallRecord, now: number): CallRecord {
  const { execute, queue } = record.deadlines;
  const resume = Math.min(now + CLOCKS.resumeMs, execute ?? Infinity, queue ?? Infinity);
  return { ...record, deadlines: { ...record.deadlines, start: null, resume } };
}

export function createInstanceChanges(deps: {
  ledger: CallLedger;
  index: CallIndex;
  dispatcher: Dispatcher;
  clock: Clock;
  breaker: Pick<Breaker, 'failed'>;
  isStopping(): boolean;
  onError(error: unknown): void;
}): InstanceChanges {
  const { ledger, index, dispatcher, clock, breaker } = deps;
  /** By instance, calls to be offered again once it has registered the tool. */
  const owed = new Map<string, Map<string, OwedOffer>>();

  function gone(instanceId: string): void {
    // It is the server that lets go of everybody; the next start waits for them.
    if (deps.isStopping()) return;
    owed.delete(instanceId);
    const held = index.pinnedTo(instanceId).flatMap((id) => ledger.latest(id) ?? []);
    // However many calls it held, it left once.
    const broken = new Set(held.filter(({ granted }) => granted).map(({ toolName }) => toolName));
    for (const toolName of broken) breaker.failed(instanceId, toolName);
    for (const record of held) {
      if (isFinalStatus(record.status)) continue;
      // Nobody has started it: another client may take it at once.
      if (!record.granted && record.phase === 'offered' && dispatcher.offerAgain(record)) continue;
      waitForReturn(record);
    }
    dispatcher.askAgainWaiting();
  }

  /**
   * Starts the resume clock. A client without a journal is waited for by the
   * execute clock alone, because its first answer still counts until then.
   */
  function waitForReturn(record: CallRecord): void {
    if (!hasJournal(record) && !isRerunnable(record)) return;
    const next = awaitingReturn(record, clock.now());
    ledger.amend(next, { clock: runningClock(next) }).catch(deps.onError);
  }

  async function back(instance: ReturningInstance) {
    const known = new Map(instance.known.map((one) => [one.id, one]));
    const forget: string[] = [];
    const cancel: string[] = [];
    const pinned = index.pinnedTo(instance.previousInstanceId);
    for (const id of new Set([...pinned, ...known.keys()])) {
      const record = await ledger.find(id);
      const held = holding(record, known.get(id), instance);
      const mine = held.isMine ? record : undefined;
      const client = knowledgeOf(mine, held.known, instance);
      const action = actionFor(mine, client);
      if (action === 'forget') forget.push(id);
      else if (action === 'cancel') cancel.push(id);
      if (mine && !isFinalStatus(mine.status)) comeBack(mine, { action, client }, instance);
    }
    // A client that forgets an end which a crash then undoes would run the call again.
    await Promise.all([...forget, ...cancel].map((id) => ledger.settled(id)));
    return { forget, cancel };
  }

  function comeBack(
    record: CallRecord,
    { action, client }: { action: ResumeAction; client: ClientKnowledge },
    instance: ReturningInstance,
  ): void {
    if (action === 'outcome_unknown') {
      // Its leaving counted already, unless it was back before that was seen.
      if (record.deadlines.resume === null) breaker.failed(instance.instanceId, record.toolName);
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
      const calls = owed.get(instance.instanceId) ?? new Map<string, OwedOffer>();
      // Only a journal that is intact and holds nothing of the call proves anything.
      const neverStarted = client === 'nothing' ? (moved.record.provider ?? undefined) : undefined;
      calls.set(record.id, { attempt: moved.record.provider?.attempt ?? 0, neverStarted });
      owed.set(instance.instanceId, calls);
      return;
    }
    const deadlines = { ...moved.record.deadlines, resume: null };
    const next = { ...moved.record, deadlines };
    ledger.amend(next, { clock: runningClock(next) }).catch(deps.onError);
  }

  function toolsChanged(instanceId: string): void {
    offerOwed(instanceId);
    dispatcher.offerChanged(instanceId);
    dispatcher.offerWaiting();
  }

  function offerOwed(instanceId: string): void {
    for (const [id, { neverStarted }] of owed.get(instanceId) ?? []) {
      const record = ledger.latest(id);
      const settled =
        !record || isFinalStatus(record.status) || dispatcher.offerAgain(record, neverStarted);
      if (settled) owed.get(instanceId)?.delete(id);
    }
  }

  return {
    gone,
    back,
    toolsChanged,
    offerAll() {
      for (const instanceId of owed.keys()) offerOwed(instanceId);
      dispatcher.offerWaiting();
    },
    hasGivenUp: (instanceId, id, attempt) =>
      attempt <= (owed.get(instanceId)?.get(id)?.attempt ?? 0),
    holdsCalls: (instanceId) => index.pinnedTo(instanceId).length > 0,
  };
}
