import type { CallEvent, NeverStarted } from '#lib/call/call-machine';
import type { CallRecord, Provider } from '#lib/call/call-record';
import type { CallClock } from '#lib/protocol/call-status';
import type { CardUpdate } from '#lib/protocol/card';
import { CLOCKS } from '#lib/protocol/limits';
import type { ServerMessage } from '#lib/protocol/server-messages';
import type { Clock } from '../clock.ts';
import { type EventBus, instanceAddress } from '../events/event-bus.ts';
import type {
  ClientTool,
  OfferedTool,
  ServerToolEntry,
  ToolRegistry,
} from '../tools/tool-registry.ts';
import { type Advance, type AdvanceExtras, advance, isRerunnable } from './advance.ts';
import type { Breaker } from './breaker.ts';
import type { CallIndex } from './call-index.ts';
import type { CallLedger } from './call-ledger.ts';
import { runningClock } from './describe-change.ts';
import { isClientTool, shownClient, takenFrom } from './offered-tool.ts';
import { type Candidate, routeCall, scopeOf } from './route-call.ts';
import type { ServerExecutor } from './server-executor.ts';

/** What the dispatcher must know of a client instance beside its tools. */
export interface InstanceFacts {
  readonly claims: boolean;
  readonly journalEpoch: string | null;
  readonly name: string;
  /** It answers probes. */
  readonly responsive: boolean;
}

export interface DispatcherDeps {
  readonly ledger: CallLedger;
  readonly index: CallIndex;
  readonly registry: Pick<ToolRegistry, 'find'>;
  readonly bus: Pick<EventBus, 'deliver'>;
  readonly clock: Clock;
  readonly executor: ServerExecutor;
  readonly breaker: Pick<Breaker, 'admits' | 'offered' | 'failed'>;
  facts(instanceId: string): InstanceFacts | undefined;
  onError(error: unknown): void;
}

export interface Dispatcher {
  /** Takes a queued call one step on, within the same write; `after` runs once that is on disk. */
  place(record: CallRecord): Step;
  /** Offers what waits, for anybody or for a client that has left, to whoever serves it now. */
  offerWaiting(): void;
  /** Asks a person again about what was approved for a client that has left meanwhile. */
  askAgainWaiting(): void;
  /** Offers anew what this instance was offered, and has not taken, under another word of its tool. */
  offerChanged(instanceId: string): void;
  /** Decides by the machine, writes, and runs `after` once it is durable. Refusals change nothing. */
  apply(record: CallRecord, event: CallEvent, extras?: AdvanceExtras, after?: () => void): Advance;
  /** Offers it again, to the same client or a better one, or ends it; false when it goes on waiting. */
  offerAgain(record: CallRecord, neverStarted?: NeverStarted): boolean;
  clockRanOut(callId: string, which: CallClock): void;
  /** To the instance that a call is pinned to. */
  tellProvider(record: CallRecord, message: ServerMessage): void;
}

type Fields = NonNullable<AdvanceExtras['fields']>;

/** A decision that is not yet written. */
interface Step {
  readonly record: CallRecord;
  readonly updates: readonly CardUpdate[];
  after(): void;
}

/** Brings calls to their executors: who is asked, when, and what each clock means. */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { ledger, index, registry, clock, bus, breaker } = deps;

  function apply(
    record: CallRecord,
    event: CallEvent,
    extras?: AdvanceExtras,
    after?: () => void,
  ): Advance {
    // Between two looks at a call something else may have been decided of it.
    const current = ledger.latest(record.id) ?? record;
    const moved = advance(current, event, clock.now(), extras);
    if (!moved.ok) return moved;
    ledger.commit(moved.record, [moved.update]).then(after, deps.onError);
    return moved;
  }

  function place(record: CallRecord): Step {
    const next = record.phase === 'queued' ? nextStep(record) : undefined;
    return next ?? { record, updates: [], after() {} };
  }

  /** What becomes of a call that waits; undefined when it goes on waiting. */
  function nextStep(record: CallRecord, neverStarted?: NeverStarted): Step | undefined {
    const route = routeCall(record, () => candidatesFor(record), neverStarted);
    if (route.to === 'no_executor') return undefined;
    if (route.to === 'end') return step(record, { type: 'refused', error: route.error });
    const { tool, args } = route;
    const fields = { ...takenFrom(tool, record), args };
    if (route.to === 'approval') return askAgain(record, tool, fields);
    return isClientTool(tool)
      ? offerTo(record, tool, fields, neverStarted)
      : startHere(record, tool, fields);
  }

  /** Those who offer the tool now, in the order in which they are asked for this call. */
  function* candidatesFor(
    { toolName, source, routing, wantedClientId }: CallRecord,
    clientId = wantedClientId,
  ): Generator<Candidate<ServerToolEntry | ClientTool>> {
    const reference = clientId === null ? toolName : `${toolName}@${clientId}`;
    const target = registry.find(reference, routing.fromClientId);
    if (target?.source !== source) return;
    const tools = target.source === 'server' ? [target] : target.candidates;
    for (const tool of tools) yield { tool, isAskable: isAskable(tool) };
  }

  /** It answers and delivers. */
  const isAskable = (tool: ServerToolEntry | ClientTool): boolean =>
    !isClientTool(tool) ||
    (deps.facts(tool.instanceId)?.responsive === true &&
      breaker.admits(tool.instanceId, tool.name));

  function step(record: CallRecord, event: CallEvent, extras?: AdvanceExtras): Step | undefined {
    const moved = advance(record, event, clock.now(), extras);
    return moved.ok ? { record: moved.record, updates: [moved.update], after() {} } : undefined;
  }

  function askAgain(record: CallRecord, tool: OfferedTool, fields: Fields): Step | undefined {
    const routing = { ...(fields.routing ?? record.routing), approval: scopeOf(tool) };
    const update = {
      approval_reason: `What was to be approved of ${record.toolName} has changed: it is asked again`,
      approval_reason_code: 'changed' as const,
      ...shownClient(tool, deps.facts),
    };
    return step(record, { type: 'asked_again' }, { fields: { ...fields, routing }, update });
  }

  function startHere(
    record: CallRecord,
    { tool }: ServerToolEntry,
    fields: Fields,
  ): Step | undefined {
    const started = step(record, { type: 'started_here' }, { fields });
    return started && { ...started, after: () => deps.executor.run(started.record, tool) };
  }

  function offerTo(
    record: CallRecord,
    tool: ClientTool,
    fields: Fields,
    neverStarted: NeverStarted | undefined,
  ): Step | undefined {
    const facts = deps.facts(tool.instanceId);
    if (!facts) return undefined;
    const { clientId, instanceId } = tool;
    const attempt = (record.provider?.attempt ?? 0) + 1;
    const { claims, journalEpoch } = facts;
    const provider: Provider = { clientId, instanceId, attempt, claims, journalEpoch };
    const rerunnable = isRerunnable(tool);
    const event: CallEvent = { type: 'offered', provider, rerunnable, neverStarted };
    const title = tool.displayName ?? null;
    const update = {
      client_name: facts.name,
      ...(record.card.display_name === title ? {} : { display_name: title }),
    };
    const offered = step(record, event, { provider, fields, update });
    if (!offered) return undefined;
    breaker.offered(instanceId, offered.record.toolName, offered.record.id);
    return { ...offered, after: () => sendRequest(offered.record, attempt) };
  }

  const sendRequest = (offered: CallRecord, attempt: number): void =>
    tellProvider(offered, {
      type: 'tool_call_request',
      id: offered.id,
      name: offered.toolName,
      args: { ...offered.args },
      run_id: offered.runId,
      attempt,
      timeout_ms: offered.timeoutMs,
    });

  function offerAgain(record: CallRecord, neverStarted?: NeverStarted): boolean {
    const next = nextStep(record, neverStarted);
    if (!next) return false;
    ledger.commit(next.record, next.updates).then(next.after, deps.onError);
    return true;
  }

  function offerWaiting(): void {
    const left = index.unclaimed().filter((id) => {
      const instanceId = ledger.latest(id)?.provider?.instanceId;
      return instanceId !== undefined && !deps.facts(instanceId);
    });
    for (const record of latest([...left, ...index.queued()])) offerAgain(record);
  }

  function askAgainWaiting(): void {
    for (const record of latest(index.queued())) {
      if (record.routing.approval !== null) offerAgain(record);
    }
  }

  function offerChanged(instanceId: string): void {
    for (const record of latest(index.pinnedTo(instanceId))) {
      if (record.phase !== 'offered' || record.granted) continue;
      const own = candidatesFor(record, record.provider?.clientId).find(
        ({ tool }) => isClientTool(tool) && tool.instanceId === instanceId,
      );
      if (own && isOther(own.tool, record)) offerAgain(record);
    }
  }

  const latest = (ids: readonly string[]): CallRecord[] =>
    ids.flatMap((id) => ledger.latest(id) ?? []);

  function tellProvider(record: CallRecord, message: ServerMessage): void {
    const { provider } = record;
    if (!provider) return;
    const address = instanceAddress(provider.clientId, provider.instanceId);
    // Nobody there: its socket has closed, and the resume clock of the call takes over.
    bus.deliver(address, { type: 'send', message }).catch(deps.onError);
  }

  function clockRanOut(callId: string, which: CallClock): void {
    const record = ledger.latest(callId);
    if (!record) return;
    if (which === 'start') return startRanOut(record);
    const { provider } = record;
    // A tool that takes too long is no fault of its client; one that does not even answer is.
    if (which === 'execute' && provider && deps.facts(provider.instanceId)?.responsive === false) {
      breaker.failed(provider.instanceId, record.toolName);
    }
    const event: CallEvent = { type: 'clock', clock: which, limitMs: limitOf(record, which) };
    const reason = `timeout: ${which}`;
    const moved = apply(record, event, undefined, () =>
      tellProvider(record, { type: 'tool_call_cancel', id: callId, reason }),
    );
    // The server's own tool stops at once; what it still answers changes nothing.
    if (moved.ok && record.source === 'server') {
      deps.executor.abort(callId, moved.record.error?.message ?? which);
    }
  }

  /** Offered, and not claimed in time: a client that is busy keeps its turn, another is asked again. */
  function startRanOut(record: CallRecord): void {
    if (!isBusy(record)) {
      if (record.provider) breaker.failed(record.provider.instanceId, record.toolName);
      if (offerAgain(record)) return;
    }
    const deadlines = { ...record.deadlines, start: clock.now() + CLOCKS.startMs };
    const next = { ...record, deadlines };
    ledger.amend(next, { clock: runningClock(next) }).catch(deps.onError);
  }

  const isBusy = (record: CallRecord): boolean =>
    record.provider !== null &&
    index.pinnedTo(record.provider.instanceId).some((id) => {
      const other = ledger.latest(id);
      return other !== undefined && other.toolName === record.toolName && other.granted;
    });

  return {
    place,
    offerWaiting,
    askAgainWaiting,
    offerChanged,
    apply,
    offerAgain,
    clockRanOut,
    tellProvider,
  };
}

/** Whether a tool is not the one under which its call was offered. */
function isOther(tool: OfferedTool, record: CallRecord): boolean {
  const { approval } = record.routing;
  const { annotations, routing } = takenFrom(tool, record);
  return (
    annotations !== record.annotations ||
    routing !== record.routing ||
    (approval !== null && approval.toolHash !== tool.toolHash)
  );
}

function limitOf(record: CallRecord, which: CallClock): number {
  switch (which) {
    case 'approval':
      return CLOCKS.approvalMs;
    case 'queue':
      return CLOCKS.queueMs;
    case 'start':
      return CLOCKS.startMs;
    case 'execute':
      return record.timeoutMs;
    case 'resume':
      return CLOCKS.resumeMs;
    case 'cancel':
      return CLOCKS.cancelMs;
  }
}
