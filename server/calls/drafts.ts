import { boundUpdate } from '#lib/call/bound-card';
import { type CallRecord, NO_ROUTING } from '#lib/call/call-record';
import { isRecord } from '#lib/json/is-record';
import type { CallError } from '#lib/protocol/call-status';
import type { CardUpdate } from '#lib/protocol/card';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { CLOCKS } from '#lib/protocol/limits';
import { parseToolReference } from '#lib/protocol/tool-name';
import type { Clock } from '../clock.ts';
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
    const sketch = sketchOf();
    return {
      callId: record.id,
      update: (params) => ledger.sketch(record.id, sketch(params)),
      complete: (args) => complete(record.id, request, args),
      abandon: (message, { code = 'invalid_args', reason, args } = {}) =>
        refuse(
          record.id,
          { code, message, executed: 'no', ...(reason === undefined ? {} : { reason }) },
          args === undefined ? {} : { args },
        ),
    };
  }

  function newDraft(request: DraftRequest): CallRecord {
    const target = registry.find(request.tool, request.fromClientId);
    const tool = target?.source === 'client' ? target.best : target;
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
    if (!found.ok) return refuse(id, toCallError(found, request.tool), shown);
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

/**
 * What a card shows of arguments that are still being written. Only what changed
 * is given, but whether all of it is small can only be said of all of it.
 */
function sketchOf(): (changed: Record<string, unknown>) => CardUpdate {
  let written: Record<string, unknown> = {};
  return (changed) => {
    written = { ...written, ...changed };
    const { params = {}, ...sizes } = boundUpdate(undefined, { params: written, partial: true });
    const keys = Object.keys(changed).filter((key) => Object.hasOwn(params, key));
    return { ...sizes, params: Object.fromEntries(keys.map((key) => [key, params[key]])) };
  };
}

/** For a model, which reads neither URLs nor allow-lists. */
function toCallError({ code, message }: InvokeRefusal, tool: string): CallError {
  if (code === 'permission_denied') return { code: 'denied', message, executed: 'no' };
  const words = code === 'tool_not_found' ? `The tool ${tool} is not offered any more.` : message;
  return { code: 'no_provider', message: words, executed: 'no' };
}
