import type { CallRecord } from '#lib/call/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { LIMITS } from '#lib/protocol/limits';
import type { Principal } from '../auth/principal.ts';
import type { Clock } from '../clock.ts';
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
import type { Placement } from './placement.ts';
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
  placement: Pick<Placement, 'approve' | 'allowAlways'>;
  invoke(request: InvokeRequest): Promise<InvokeOutcome>;
  onError(error: unknown): void;
}): Actions {
  const { ledger, dispatcher, executor, clock, registry, unsentGrants, placement } = deps;

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
    { args, fromClientId }: Parameters<CallService['retry']>[2] = {},
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
    const { hasOwnTimeout, fromClientId: before } = record.routing;
    return deps.invoke({
      principal,
      tool: record.toolName,
      runId: record.runId,
      args: args ?? record.args,
      retryOf: id,
      fromClientId: fromClientId ?? before ?? undefined,
      ...(hasOwnTimeout ? { timeoutMs: record.timeoutMs } : {}),
      ...(record.wantedClientId === null ? {} : { clientId: record.wantedClientId }),
    });
  }

  async function decide(
    id: string,
    principal: Principal,
    decision: Parameters<CallService['decide']>[2],
  ): Promise<CallActionOutcome> {
    const found = await ledger.find(id);
    if (!found) return notFound(id);
    const record = ledger.latest(id) ?? found;
    if (isFinalStatus(record.status)) return alreadyFinal(record);
    if (record.phase !== 'approval') return notWaiting(id);
    if (decision.decision === 'no') {
      const note = decision.note ? `: ${decision.note}` : '';
      dispatcher.apply(record, { type: 'denied', message: `An operator denied the call${note}` });
      return done(id);
    }
    if (isOlder(decision.expiresAt, record)) return changedSince(id);
    const fields = editedArgs(record, principal, decision.args);
    if (!fields.ok) return fields;
    const placed = placement.approve(record, fields.fields);
    if (!placed) return notWaiting(id);
    const isAskedAgain = placed.record.phase === 'approval';
    if (decision.decision === 'always' && !isAskedAgain) placement.allowAlways(placed.record);
    // The yes and the offer are one write: a crash in between would leave a call that is never placed.
    ledger.commit(placed.record, placed.updates).then(placed.after, deps.onError);
    const outcome = await done(id);
    return isAskedAgain ? changedSince(id) : outcome;
  }

  function editedArgs(record: CallRecord, principal: Principal, args: unknown) {
    if (args === undefined) return { ok: true as const, fields: {} };
    const { approval, fromClientId } = record.routing;
    const target = {
      tool: record.toolName,
      principal,
      fromClientId: fromClientId ?? undefined,
      ...(record.wantedClientId === null ? {} : { clientId: record.wantedClientId }),
    };
    const asked = approval?.clientId
      ? resolveTarget(registry, { ...target, clientId: approval.clientId })
      : undefined;
    // Its client has left: the edit is checked for the next one, and the question is asked anew.
    const found = asked?.ok ? asked : resolveTarget(registry, target);
    if (!found.ok) return found;
    const checked = found.tool.check(args);
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
      routing: { ...record.routing, hasOwnTimeout: true },
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

/** Whether the yes is to a question that has been asked anew since: each has a time of its own. */
const isOlder = (expiresAt: number | undefined, { deadlines }: CallRecord): boolean =>
  expiresAt !== undefined && expiresAt !== (deadlines.approval ?? 0) / 1000;

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

const changedSince = (id: string): CallActionOutcome => ({
  ok: false,
  code: 'conflict',
  message: `The tool, or the client that would run it, has changed since the call ${id} was shown; look at it again and decide anew`,
});

const notWaiting = (id: string): CallActionOutcome => ({
  ok: false,
  code: 'conflict',
  message: `The call ${id} does not wait for an approval`,
});
