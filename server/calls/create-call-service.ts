import type { CallRecord } from '#lib/call/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Clock } from '../clock.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { Store } from '../store/store.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import { type Breaker, createBreaker } from './breaker.ts';
import { createCallClocks } from './call-clocks.ts';
import { createCallIndex } from './call-index.ts';
import { createCallLedger } from './call-ledger.ts';
import type { CallService, ShownCall } from './call-service.ts';
import type { Check } from './check.ts';
import { type ClientCalls, createClientCalls, type UnsentGrants } from './client-calls.ts';
import { runningClock } from './describe-change.ts';
import { createDispatcher, type InstanceFacts } from './dispatcher.ts';
import { createDrafts } from './drafts.ts';
import { ENDED_LIMITS, toShownAlone } from './ended-calls.ts';
import { createInstanceChanges, type InstanceChanges } from './instance-changes.ts';
import { createInvocation } from './invoke.ts';
import { createOperatorActions } from './operator-actions.ts';
import { createPlacement } from './placement.ts';
import { readRecent } from './read-recent.ts';
import { recoverCalls, shiftAfterAbsence, withDeadlinesMoved } from './recover.ts';
import { createServerExecutor } from './server-executor.ts';

export interface CallServiceDeps {
  readonly store: Store;
  readonly bus: EventBus;
  readonly registry: ToolRegistry;
  readonly clock: Clock;
  readonly check: Check;
  newCallId(): string;
  /** Makes the run of a call whose run id nobody has seen. */
  ensureRun(runId: string, title: string): Promise<void>;
  facts(instanceId: string): InstanceFacts | undefined;
  onDurable(record: CallRecord, previous: CallRecord | undefined): void;
  onError(error: unknown): void;
}

export interface Calls extends CallService {
  readonly clients: ClientCalls;
  readonly instances: InstanceChanges;
  readonly breaker: Breaker;
  readonly openCount: number;
  openOfRun(runId: string): readonly string[];
  /**
   * Takes up what a crash left open. Once, before anything else. `lastAliveAt` is
   * the wall time at which a server was last known to run.
   */
  recover(lastAliveAt?: number): Promise<{ open: number; interrupted: number }>;
  /** The wall clock was set: deadlines are moved with it, so that no call loses or wins time. */
  wallClockMoved(byMs: number): void;
  /** Refuses new calls from now on, answers those who wait with what there is, and aborts the server's own tools; their calls stay open on disk. */
  stop(): void;
}

/** Puts the parts of the call service together; the rules are in the parts. */
export function createCalls(deps: CallServiceDeps): Calls {
  const { store, bus, registry, clock } = deps;
  let stopped = false;
  const index = createCallIndex();
  const ledger = createCallLedger({
    store,
    bus,
    clock,
    onDurable: deps.onDurable,
    onError: deps.onError,
  });
  const breaker = createBreaker({ clock });
  const executor = createServerExecutor({
    tell: ledger.tell,
    onDefect: (toolName, error) => deps.onError(new Error(`${toolName} failed`, { cause: error })),
    finish(callId, outcome) {
      // A call that the stopping server cut short is taken up again by the next start.
      if (stopped) return;
      const record = ledger.latest(callId);
      if (!record) return;
      const error = 'error' in outcome ? outcome.error : null;
      const answer = 'answer' in outcome ? outcome.answer : undefined;
      const fields =
        answer && !error ? { result: answer.output ?? null, display: answer.display } : {};
      dispatcher.apply(record, { type: 'finished_here', error }, { fields });
    },
  });
  const dispatcher = createDispatcher({
    ledger,
    index,
    registry,
    bus,
    clock,
    executor,
    breaker,
    facts: deps.facts,
    onError: deps.onError,
  });
  const clocks = createCallClocks({ clock, onRanOut: dispatcher.clockRanOut });
  ledger.onDecided((record, previous) => {
    index.update(record, previous);
    clocks.follow(record);
    if (record.completedAt !== null && previous?.completedAt === null) judge(breaker, record);
  });
  const instances = createInstanceChanges({
    ledger,
    index,
    dispatcher,
    clock,
    breaker,
    isStopping: () => stopped,
    onError: deps.onError,
  });
  breaker.onChange(registry.standingChanged);
  // Not within the decision that changed it.
  breaker.onChange(() => queueMicrotask(instances.offerAll));
  const unsentGrants: UnsentGrants = new Set();
  const { check, facts } = deps;
  const placement = createPlacement({ check, dispatcher, clock, facts });
  const invocation = createInvocation({ ...deps, ledger, place: placement.place });
  const drafts = createDrafts({ ...deps, ledger, place: placement.place });
  const actions = createOperatorActions({
    ledger,
    dispatcher,
    executor,
    clock,
    registry,
    unsentGrants,
    placement,
    invoke: invocation.invoke,
    onError: deps.onError,
  });

  return {
    ...actions,
    invoke: invocation.invoke,
    draft: drafts.draft,
    get: ledger.get,
    list: (query) => store.listCalls(query),
    wait: ledger.wait,
    watched: ledger.shown,
    async endedOf(runId) {
      const calls: ShownCall[] = [];
      for await (const call of readRecent(store, { runId, count: ENDED_LIMITS.shown })) {
        if (isFinalStatus(call.status)) calls.push(toShownAlone(call));
      }
      return calls;
    },
    clients: createClientCalls({ ledger, dispatcher, clock, unsentGrants, instances }),
    instances,
    breaker,
    get openCount() {
      return index.openCount;
    },
    openOfRun: index.openOfRun,
    recover: (lastAliveAt) => {
      const shiftMs = shiftAfterAbsence(lastAliveAt, clock.now());
      return recoverCalls({ store, ledger, dispatcher, clock, shiftMs, onError: deps.onError });
    },
    wallClockMoved(byMs) {
      for (const record of ledger.open()) {
        const moved = withDeadlinesMoved(record, byMs);
        ledger.amend(moved, { clock: runningClock(moved) }).catch(deps.onError);
      }
    },
    stop() {
      stopped = true;
      invocation.close();
      ledger.releaseWaiters();
      clocks.stop();
      executor.abortAll('The server is stopping');
    },
  };
}

/** What the end of a call says of how its client takes calls. */
function judge(breaker: Breaker, { id, provider, toolName, resultHash }: CallRecord): void {
  if (!provider) return;
  if (resultHash === null) breaker.released(provider.instanceId, toolName, id);
  else breaker.delivered(provider.instanceId, toolName);
}
