import { isRecord } from '#lib/json/is-record';
import type { CallError } from '#lib/protocol/call-status';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { CLOCKS } from '#lib/protocol/limits';
import { parseToolReference } from '#lib/protocol/tool-name';
import type { Clock } from '../clock.ts';
import { type CallRecord, NO_ROUTING } from '../store/call-record.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import { advance, firstCard } from './advance.ts';
import type { CallLedger } from './call-ledger.ts';
import type { CallService, DraftCall, InvokeRefusal } from './call-service.ts';
import { blankRecord, resolveTarget, sourceOf } from './invoke.ts';
import { takenFrom } from './offered-tool.ts';
import type { Place } from './placement.ts';
import { invalidArgs } from './route-call.ts';

type DraftRequest = Parameters<CallService['draft']>[0];

/** Calls whose arguments a model is still writing. On disk from the start, so that no id is ever lost. */
export function createDrafts(deps: {
  registry: ToolRegistry;
  clock: Clock;
  ledger: CallLedger;
  place: Place;
  newCallId(): string;
}): Pick<CallService, 'draft'> {
  const { registry, clock, ledger } = deps;

  async function draft(request: DraftRequest): Promise<DraftCall> {
    const record = newDraft(request);
    await ledger.commit(record, [record.card]);
    return {
      callId: record.id,
      update: (params) => ledger.sketch(record.id, { params, partial: true }),
      complete: (args) => complete(record.id, request, args),
      abandon: (message) =>
        refuse(record.id, { code: 'invalid_args', message, executed: 'no' }, {}),
    };
  }

  function newDraft(request: DraftRequest): CallRecord {
    const target = registry.find(request.tool, request.fromClientId);
    const tool = target?.source === 'client' ? target.candidates[0] : target;
    const blank = {
      ...blankRecord(deps.newCallId(), clock.now()),
      routing: { ...NO_ROUTING, fromClientId: request.fromClientId ?? null },
      runId: request.runId,
      toolName: tool ? parseToolReference(request.tool).name : request.tool,
      source: tool ? sourceOf(tool) : ('server' as const),
      args: {},
      annotations: tool?.annotations ?? {},
      timeoutMs: tool?.timeoutMs ?? CLOCKS.executeMs,
      wantedClientId: null,
      retryOf: null,
      requestedBy: request.requestedBy,
    };
    const card = { ...firstCard(blank, tool?.displayName ?? null), partial: true };
    return { ...blank, card };
  }

  async function complete(id: string, request: DraftRequest, args: unknown): Promise<CallRecord> {
    const record = ledger.latest(id) ?? (await current(id));
    if (isFinalStatus(record.status)) return record;
    const shown = isRecord(args) ? { args } : {};
    const found = resolveTarget(registry, request);
    if (!found.ok) return refuse(id, toCallError(found), shown);
    const { tool, wantedClientId } = found;
    const checked = tool.check(args);
    if (!checked.ok) return refuse(id, invalidArgs(request.tool, checked.details), shown);
    const taken = { ...takenFrom(tool, record), source: sourceOf(tool), wantedClientId };
    const placed = deps.place(record, request.principal, tool, { ...taken, args: checked.args });
    await ledger.commit(placed.record, placed.updates);
    placed.after();
    return current(id);
  }

  async function refuse(
    id: string,
    error: CallError,
    fields: { args?: Record<string, unknown> },
  ): Promise<CallRecord> {
    const record = ledger.latest(id) ?? (await current(id));
    const update = { partial: false };
    const moved = advance(record, { type: 'refused', error }, clock.now(), { fields, update });
    if (moved.ok) await ledger.commit(moved.record, [moved.update]);
    return current(id);
  }

  async function current(id: string): Promise<CallRecord> {
    const record = await ledger.find(id);
    if (!record) throw new Error(`The draft ${id} is gone`);
    return record;
  }

  return { draft };
}

function toCallError({ code, message }: InvokeRefusal): CallError {
  return {
    code: code === 'permission_denied' ? 'denied' : 'no_provider',
    message,
    executed: 'no',
  };
}
