import type { Call } from '#lib/call/call';
import { shownAt } from '#lib/call/clocks';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { type ApprovalsDeps, createApprovals, type DecidedCalls } from '../approvals/room.ts';
import type { LastMark, SteadyClock } from '../base/clock.ts';
import type { BlobStore } from '../blobs/room.ts';
import type { EventBus } from '../events/room.ts';
import type { AnnounceCall } from '../notices/room.ts';
import { type KnownSecrets, lost, Withholding } from '../secrets/room.ts';
import type { CallQuery, Store } from '../store/room.ts';
import { AskEach } from './ask-each.ts';
import type { Breaker } from './breaker.ts';
import { CallActions } from './call-actions.ts';
import { clockRanOut, createCallClocks } from './call-clocks.ts';
import { createClientTools, runEffect } from './call-executor.ts';
import { CallFollowers } from './call-followers.ts';
import { CallIndex } from './call-index.ts';
import type { CallParts } from './call-parts.ts';
import { CallRepository } from './call-repository.ts';
import type { CallService, ClaimRun, ShownCall } from './call-service.ts';
import { CallsOfClients } from './client-calls.ts';
import { openDraft } from './drafts.ts';
import { ENDED_LIMITS, readRecent, toShownAlone } from './ended-calls.ts';
import { CallEngine } from './engine.ts';
import { createInsideExecutor, resumptionOf } from './inside-executor.ts';
import { ClientInstances, WaitingCalls } from './instance-changes.ts';
import { Invocation } from './invoke.ts';
import { recoverCalls, shiftOfOlder, steadyAtStart } from './recover.ts';
import type { ResultFilter } from './result-filter.ts';
import { type InstanceFacts, Router, resolveTarget } from './router.ts';
import { WaitingBelow } from './waiting-below.ts';

export interface CallServiceDeps extends Omit<ApprovalsDeps, 'withholding'> {
  readonly bus: EventBus;
  readonly breaker: Breaker;
  readonly clock: SteadyClock;
  /** For the files of the server's own tools. */
  readonly blobs: Pick<BlobStore, 'put'>;
  /** Without it results are taken as they are. */
  readonly results?: ResultFilter;
  /** Without it only what a schema marks, and tokens. */
  readonly secrets?: KnownSecrets;
  newCallId(): string;
  /** Spans of calls are exported: executors are sent theirs. */
  readonly isTracing?: boolean;
  /** When the call of an id that was given here was made; undefined for any other. */
  callMadeAt?(id: string): number | undefined;
  /** Makes the run of a call whose run id is new. */
  readonly claimRun: ClaimRun;
  facts(instanceId: string): InstanceFacts | undefined;
  /** The write of a decision has what goes to others outside. */
  readonly announce?: AnnounceCall | undefined;
  /** Called with each decision, before it is on disk. */
  onDecided?(record: Call): void;
}

export interface Calls extends CallService {
  readonly clients: CallsOfClients;
  readonly instances: ClientInstances;
  readonly openCount: number;
  openOfRun(runId: string): readonly string[];
  /**
   * Takes up what a crash left open. Once, before anything else. `last` is when a
   * server was last known to run.
   */
  recover(last?: LastMark): Promise<{ open: number; interrupted: number }>;
  /** The wall clock was set: watchers are shown what that makes of the deadlines. Nothing is written. */
  wallClockMoved(): void;
  /** The token of an owner was revoked: what is open of its calls is cancelled. */
  ownerRevoked(tokenId: string): Promise<void>;
  /** Forgets ended calls that are about to be deleted; those that may be (rule CA24). */
  forgetEnded(ids: readonly string[]): string[];
  /** Rejects new calls from now on, answers those who wait with what there is, and aborts the server's own tools; their calls stay open on disk. */
  stop(): void;
  /** Calls back for each state of a call that is on disk, with the one before, until the server stops. */
  onDurable(listener: Durable): void;
}

type Durable = (call: Call, previous: Call | undefined) => void;

const OWNER_REVOKED = 'The token in whose name the call was made was revoked.';

/** Puts the parts of the call service together; the rules are in the parts. */
export function createCalls(deps: CallServiceDeps): Calls {
  const core = createCore(deps);
  const { parts, followers } = core;
  const { engine, repository, index, approvals } = parts;
  const invocation = new Invocation(parts);
  const instances = new ClientInstances(parts, core.waiting);
  parts.breaker.onChange(deps.registry.availabilityChanged);
  // Not within the decision that changed it.
  parts.breaker.onChange((instanceId) => queueMicrotask(() => instances.toolsChanged(instanceId)));
  const actions = new CallActions(parts, invocation);
  const decisions = approvals.decisionsOn(decidedBy(parts));
  const service: Calls = {
    invoke: invocation.invoke,
    draft: (request) => openDraft(parts, request),
    get: (id) => repository.get(id),
    list: (query) => listed(deps, query),
    wait: (...asked) => repository.wait(...asked),
    follow: (of, onNews) => followers.follow(of, onNews),
    events: (id, page) => deps.store.callEvents(id, page),
    storedBytes: (id) => repository.storedBytes(id),
    wasDeleted: (id) =>
      (deps.callMadeAt?.(id) ?? Number.POSITIVE_INFINITY) <= deps.store.history.deletedUpTo(),
    cancel: (...asked) => actions.cancel(...asked),
    retry: (id, principal, more) => actions.retry(id, principal, more),
    decide: (id, principal, decision) => decisions.decide(id, principal, decision),
    answer: (id, principal, output) => decisions.answer(id, principal, output),
    extend: (id, principal, byMs) => decisions.extend(id, principal, byMs),
    watched: (runId) => repository.shown(runId),
    endedOf: (runId) => endedOf(deps.store, runId),
    clients: new CallsOfClients(parts),
    instances,
    get openCount() {
      return index.openCount;
    },
    openOfRun: (runId) => index.openOfRun(runId),
    ownerRevoked: (tokenId) => cancelOf(tokenId, repository, actions),
    forgetEnded: (ids) => repository.forgetEnded(ids),
    always: approvals.always,
    recover: (last) => takeUp(core, last),
    wallClockMoved: () => engine.showDeadlines(),
    stop() {
      invocation.close();
      repository.releaseWaiters();
      core.stop();
    },
    onDurable: (listener) => void core.durable.push(listener),
  };
  const { registry, facts } = deps;
  registry.provideForAll(new AskEach({ calls: service, registry, facts }));
  return service;
}

/** The calls as people decide on them. */
const decidedBy = ({ registry, engine, repository }: CallParts): DecidedCalls => ({
  latest: (id) => repository.latest(id),
  find: (id) => repository.find(id),
  async settled(id) {
    await repository.settled(id);
    return repository.get(id);
  },
  apply: (call, event, actor) => engine.apply(call, event, actor),
  refusalOf: (call, event) => engine.refusalOf(call, event),
  resolve: (asked) => resolveTarget(registry, asked),
});

async function takeUp(
  { parts, onAdopted }: ReturnType<typeof createCore>,
  last: LastMark | undefined,
): Promise<{ open: number; interrupted: number }> {
  const { store, clock, registry, repository, engine, withholding } = parts;
  const open = await store.openCalls();
  const wall = clock.now();
  clock.resumeSteady({ wall, steady: steadyAtStart(last, wall, open) });
  await Promise.all([parts.approvals.load(), parts.breaker.load()]);
  const shiftMs = shiftOfOlder(last, clock.moment());
  const goesOn = (call: Call) => resumptionOf(registry, call) !== undefined;
  const found = await recoverCalls({ store, repository, engine, open, shiftMs, goesOn, onAdopted });
  // They would wait for a person or a client in vain; what goes on outside has its arguments.
  const waiting = repository.open().filter((call) => withholding.isLost(call) && !goesOn(call));
  const ended = waiting.filter((call) => engine.apply(call, lost(), 'server').ok).length;
  return { ...found, interrupted: found.interrupted + ended };
}

async function cancelOf(
  tokenId: string,
  repository: CallRepository,
  actions: CallActions,
): Promise<void> {
  const open = repository.open().filter(({ ownerToken }) => ownerToken === tokenId);
  await Promise.all(open.map(({ id }) => actions.cancel(id, OWNER_REVOKED, 'server')));
}

/** The engine, and what follows each of its decisions. */
function createCore(deps: CallServiceDeps) {
  const { store, bus, registry, clock, facts, logger, breaker, isTracing = false } = deps;
  const durable: Durable[] = [];
  const followers = new CallFollowers(bus, logger);
  const repository = new CallRepository({ store, clock, endedLimits: ENDED_LIMITS });
  const withholding = new Withholding(registry, deps.secrets);
  const approvals = createApprovals({ ...deps, withholding });
  const router = new Router({
    registry,
    breaker,
    facts,
    askedAgain: (...asked) => approvals.questions.askedAgain(...asked),
  });
  const index = new CallIndex();
  const inside = createInsideExecutor(() => parts);
  const executors = { inside, clients: createClientTools({ bus, isTracing, logger }) };
  const clocks = createCallClocks({
    clock,
    onRanOut: (id, which) => clockRanOut(parts, id, which),
  });
  const below = new WaitingBelow(() => parts);
  const onDecided = (call: Call, previous?: Call, isAdopted = false) => {
    index.update(call, previous);
    approvals.open.update(call, previous, isAdopted);
    clocks.follow(call);
    below.update(call);
    countForBreaker(breaker, call, previous);
    deps.onDecided?.(call);
  };
  const engine = new CallEngine({
    ...deps,
    repository,
    withholding,
    publish: followers.publish,
    onDecided,
    onDurable(call, previous) {
      for (const listener of durable) listener(call, previous);
    },
    onShown: (call) => deps.onDecided?.(call),
    besides: approvals.open.besides,
    route: withholding.over(router),
    run: (effect, call) => runEffect(effect, withholding.restored(call), { executors, index }),
  });
  let isStopped = false;
  const parts: CallParts = {
    ...deps,
    isTracing,
    engine,
    repository,
    index,
    router,
    executors,
    approvals,
    withholding,
    get isStopped() {
      return isStopped;
    },
  };
  approvals.open.onTurn((callId) => {
    const call = isStopped ? undefined : repository.latest(callId);
    if (call) engine.apply(call, { type: 'turn_came' }, 'server');
  });
  const waiting = new WaitingCalls(parts);
  registry.onChange(({ instanceId, names }) => {
    // Not within a decision: a provider may change its list while it runs a call.
    if (instanceId === null) queueMicrotask(() => isStopped || waiting.insideChanged(names));
  });
  return {
    parts,
    waiting,
    durable,
    followers,
    onAdopted: (call: Call) => onDecided(call, undefined, true),
    stop() {
      isStopped = true;
      clocks.stop();
      inside.stopAll('The server is stopping');
    },
  };
}

/** A decision shows how a client takes calls. */
function countForBreaker(breaker: Breaker, call: Call, previous: Call | undefined): void {
  const { id, provider, toolName, resultHash } = call;
  if (!provider) return;
  const { instanceId, attempt } = provider;
  if (call.phase === 'offered' && attempt !== previous?.provider?.attempt) {
    breaker.offered(instanceId, toolName, id);
  }
  if (call.phase !== null || !previous || previous.phase === null) return;
  if (resultHash === undefined) breaker.released(instanceId, toolName, id);
  else breaker.delivered(instanceId, toolName);
}

async function listed({ store, clock }: CallServiceDeps, query: CallQuery) {
  const page = await store.listCalls(query);
  const now = clock.moment();
  return { ...page, calls: page.calls.map((call) => shownAt(call, now)) };
}

/** From the store: memory may have none of an older run. */
async function endedOf(store: Store, runId: string): Promise<ShownCall[]> {
  const calls: ShownCall[] = [];
  for await (const call of readRecent(store, { runId, count: ENDED_LIMITS.shown })) {
    if (isFinalStatus(call.status)) calls.push(toShownAlone(call));
  }
  return calls;
}
