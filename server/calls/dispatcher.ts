import type { CallClock } from '#lib/protocol/call-status';
import type { CardUpdate } from '#lib/protocol/card';
import { CLOCKS } from '#lib/protocol/limits';
import type { ServerMessage } from '#lib/protocol/server-messages';
import type { CallEvent, NeverStarted } from '#lib/tool-call/call-machine';
import { type EventBus, instanceAddress } from '../bus/event-bus.ts';
import type { Clock } from '../clock.ts';
import type { CallRecord, Provider } from '../store/call-record.ts';
import type { ClientTool, ToolRegistry } from '../tools/tool-registry.ts';
import { type Advance, type AdvanceExtras, advance } from './advance.ts';
import type { Breaker } from './breaker.ts';
import type { CallIndex } from './call-index.ts';
import type { CallLedger } from './call-ledger.ts';
import { runningClock } from './describe-change.ts';
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
  place(record: CallRecord): { record: CallRecord; updates: CardUpdate[]; after(): void };
  /** Offers what waits, for anybody or for a client that has left, to whoever serves it now. */
  offerWaiting(): void;
  /** Decides by the machine, writes, and runs `after` once it is durable. Refusals change nothing. */
  apply(record: CallRecord, event: CallEvent, extras?: AdvanceExtras, after?: () => void): Advance;
  /** Offers it again, to the same client or a better one; false when nobody can take it. */
  offerAgain(record: CallRecord, neverStarted?: NeverStarted): boolean;
  clockRanOut(callId: string, which: CallClock): void;
  /** To the instance that a call is pinned to. */
  tellProvider(record: CallRecord, message: ServerMessage): void;
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

  function place(record: CallRecord) {
    const nothing = { record, updates: [], after: () => {} };
    if (record.phase !== 'queued') return nothing;
    if (record.source === 'server') return placeHere(record) ?? nothing;
    return offerTo(record) ?? nothing;
  }

  function placeHere(record: CallRecord) {
    const target = registry.find(record.toolName);
    if (target?.source !== 'server') return undefined;
    const moved = advance(record, { type: 'started_here' }, clock.now());
    if (!moved.ok) return undefined;
    const { tool } = target;
    return {
      record: moved.record,
      updates: [moved.update],
      after: () => deps.executor.run(moved.record, tool),
    };
  }

  /** The best client that serves it, answers and delivers; the one that the caller named, if it named one. */
  function choose(record: CallRecord): { candidate: ClientTool; facts: InstanceFacts } | undefined {
    const target = registry.find(record.toolName);
    if (target?.source !== 'client') return undefined;
    const wanted = record.wantedClientId;
    for (const candidate of target.candidates) {
      if (wanted !== null && candidate.clientId !== wanted) continue;
      const facts = deps.facts(candidate.instanceId);
      if (!facts?.responsive || !breaker.admits(candidate.instanceId, candidate.name)) continue;
      return { candidate, facts };
    }
    return undefined;
  }

  function offerTo(record: CallRecord, neverStarted?: NeverStarted) {
    const chosen = choose(record);
    if (!chosen) return undefined;
    const { candidate, facts } = chosen;
    const provider: Provider = {
      clientId: candidate.clientId,
      instanceId: candidate.instanceId,
      attempt: (record.provider?.attempt ?? 0) + 1,
      claims: facts.claims,
      journalEpoch: facts.journalEpoch,
    };
    const event: CallEvent = { type: 'offered', provider, neverStarted };
    const extras = { provider, update: { client_name: facts.name } };
    const moved = advance(record, event, clock.now(), extras);
    if (!moved.ok) return undefined;
    const offered = moved.record;
    breaker.offered(provider.instanceId, offered.toolName, offered.id);
    const after = () =>
      tellProvider(offered, {
        type: 'tool_call_request',
        id: offered.id,
        name: offered.toolName,
        args: { ...offered.args },
        run_id: offered.runId,
        attempt: provider.attempt,
        timeout_ms: offered.timeoutMs,
      });
    return { record: offered, updates: [moved.update], after };
  }

  function offerAgain(record: CallRecord, neverStarted?: NeverStarted): boolean {
    const placed = offerTo(record, neverStarted);
    if (!placed) return false;
    ledger.commit(placed.record, placed.updates).then(placed.after, deps.onError);
    return true;
  }

  function offerWaiting(): void {
    const left = index.unclaimed().filter((id) => {
      const instanceId = ledger.latest(id)?.provider?.instanceId;
      return instanceId !== undefined && !deps.facts(instanceId);
    });
    for (const id of [...left, ...index.queued()]) {
      const record = ledger.latest(id);
      if (record) offerAgain(record);
    }
  }

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

  return { place, offerWaiting, apply, offerAgain, clockRanOut, tellProvider };
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
