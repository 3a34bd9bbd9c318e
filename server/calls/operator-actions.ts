import { isFinalStatus } from '#lib/protocol/is-final-status';
import { LIMITS } from '#lib/protocol/limits';
import type { Principal } from '../auth/principal.ts';
import type { Clock } from '../clock.ts';
import type { CallRecord } from '../store/call-record.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import type { CallLedger } from './call-ledger.ts';
import type {
  CallActionOutcome,
  CallService,
  InvokeOutcome,
  InvokeRequest,
} from './call-service.ts';
import type { UnsentGrants } from './client-calls.ts';
import { runningClock } from './describe-change.ts';
import type { Dispatcher } from './dispatcher.ts';
import { resolveTarget } from './invoke.ts';
import type { ServerExecutor } from './server-executor.ts';

type Actions = Pick<CallService, 'cancel' | 'retry' | 'decide' | 'answer' | 'extend'>;

/** What people do to calls: cancel, retry, approve, answer by hand, give more time. */
export function createOperatorActions(deps: {
  ledger: CallLedger;
  dispatcher: Dispatcher;
  executor: ServerExecutor;
  clock: Clock;
  registry: ToolRegistry;
  unsentGrants: UnsentGrants;
  allowAlways(runId: string, toolName: string): void;
  invoke(request: InvokeRequest): Promise<InvokeOutcome>;
  onError(error: unknown): void;
}): Actions {
  const { ledger, dispatcher, executor, clock, registry, unsentGrants } = deps;

  async function cancel(id: string, reason: string): Promise<CallActionOutcome> {
    const record = await ledger.find(id);
    if (!record) return notFound(id);
    const isUnsent = unsentGrants.has(id);
    const moved = dispatcher.apply(record, { type: 'cancelled', reason, isUnsent }, undefined, () =>
      tellExecutor(record, reason),
    );
    // Asked twice: the first request stands, and is not an error.
    if (!moved.ok && moved.refusal !== 'cancelling') return alreadyFinal(record);
    return done(id);
  }

  function tellExecutor(record: CallRecord, reason: string): void {
    if (record.source === 'server') executor.abort(record.id, reason);
    else if (record.provider) {
      dispatcher.tellProvider(record, { type: 'tool_call_cancel', id: record.id, reason });
    }
  }

  async function retry(
    id: string,
    principal: Principal,
    args?: unknown,
  ): Promise<CallActionOutcome> {
    const record = await ledger.get(id);
    if (!record) return notFound(id);
    if (!isFinalStatus(record.status)) {
      return {
        ok: false,
        code: 'conflict',
        message: `The call ${id} has not ended; cancel it first`,
      };
    }
    return deps.invoke({
      principal,
      tool: record.toolName,
      runId: record.runId,
      args: args ?? record.args,
      timeoutMs: record.timeoutMs,
      retryOf: id,
      ...(record.wantedClientId === null ? {} : { clientId: record.wantedClientId }),
    });
  }

  async function decide(
    id: string,
    principal: Principal,
    decision: Parameters<CallService['decide']>[2],
  ): Promise<CallActionOutcome> {
    const record = await ledger.find(id);
    if (!record) return notFound(id);
    if (isFinalStatus(record.status)) return alreadyFinal(record);
    if (record.phase !== 'approval') return notWaiting(id);
    if (decision.decision === 'no') {
      const note = decision.note ? `: ${decision.note}` : '';
      dispatcher.apply(record, { type: 'denied', message: `An operator denied the call${note}` });
      return done(id);
    }
    const fields = editedArgs(record, principal, decision.args);
    if (!fields.ok) return fields;
    if (decision.decision === 'always') deps.allowAlways(record.runId, record.toolName);
    const approved = dispatcher.apply(
      record,
      { type: 'approved' },
      { fields: fields.fields },
      () => {
        const now = ledger.latest(id);
        if (now) placeNow(now);
      },
    );
    return approved.ok ? done(id) : notWaiting(id);
  }

  function placeNow(record: CallRecord): void {
    const placed = dispatcher.place(record);
    if (placed.record === record) return;
    ledger.commit(placed.record, placed.updates).then(placed.after, deps.onError);
  }

  function editedArgs(record: CallRecord, principal: Principal, args: unknown) {
    if (args === undefined) return { ok: true as const, fields: {} };
    const found = resolveTarget(registry, { tool: record.toolName, principal });
    if (!found.ok) return found;
    const checked = found.first.check(args);
    if (checked.ok) return { ok: true as const, fields: { args: checked.args } };
    return {
      ok: false as const,
      code: 'invalid_args' as const,
      message: `The edited arguments do not fit ${record.toolName}`,
      details: checked.details,
    };
  }

  async function answer(
    id: string,
    _principal: Principal,
    output: unknown,
  ): Promise<CallActionOutcome> {
    const record = await ledger.find(id);
    if (!record) return notFound(id);
    const moved = dispatcher.apply(
      record,
      { type: 'answered_by_hand' },
      { fields: { result: output ?? null }, update: { tip: 'Answered by an operator' } },
      () => tellExecutor(record, 'An operator answered in its place'),
    );
    if (!moved.ok) return alreadyFinal(record);
    return done(id);
  }

  async function extend(id: string, byMs: number): Promise<CallActionOutcome> {
    const found = await ledger.find(id);
    if (!found) return notFound(id);
    const record = ledger.latest(id) ?? found;
    if (isFinalStatus(record.status)) return alreadyFinal(record);
    const { execute } = record.deadlines;
    if (execute === null) {
      return {
        ok: false,
        code: 'conflict',
        message: `The execute clock of ${id} does not run now`,
      };
    }
    const latest = clock.now() + LIMITS.maxTimeoutMs;
    const extended = Math.min(execute + Math.max(0, byMs), latest);
    const next = {
      ...record,
      timeoutMs: record.timeoutMs + (extended - execute),
      deadlines: { ...record.deadlines, execute: extended },
    };
    await ledger.amend(next, { clock: runningClock(next), timeout_ms: next.timeoutMs });
    return done(id);
  }

  async function done(id: string): Promise<CallActionOutcome> {
    await ledger.settled(id);
    const call = await ledger.get(id);
    return call ? { ok: true, call } : notFound(id);
  }

  return { cancel, retry, decide, answer, extend };
}

const notFound = (id: string): CallActionOutcome => ({
  ok: false,
  code: 'call_not_found',
  message: `No call ${id} is known here`,
});

const alreadyFinal = (record: CallRecord): CallActionOutcome => ({
  ok: false,
  code: 'already_final',
  message: `The call ${record.id} has ended already: ${record.status}`,
});

const notWaiting = (id: string): CallActionOutcome => ({
  ok: false,
  code: 'conflict',
  message: `The call ${id} does not wait for an approval`,
});
