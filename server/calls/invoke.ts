import { hash } from 'node:crypto';
import { type CallRecord, NO_ROUTING } from '#lib/call/call-record';
import { LIMITS } from '#lib/protocol/limits';
import { parseToolReference } from '#lib/protocol/tool-name';
import { principalName } from '../auth/principal.ts';
import type { Clock } from '../clock.ts';
import type { Change, Store } from '../store/store.ts';
import type { OfferedTool, ToolRegistry } from '../tools/tool-registry.ts';
import { firstCard, NO_DEADLINES } from './advance.ts';
import type { CallLedger } from './call-ledger.ts';
import type { InvokeOutcome, InvokeRefusal, InvokeRequest } from './call-service.ts';
import { isServerTool, shownClient, takenFrom } from './offered-tool.ts';
import type { Place } from './placement.ts';
import { invalidArgs } from './route-call.ts';

export interface InvocationDeps {
  readonly store: Store;
  readonly registry: ToolRegistry;
  readonly clock: Clock;
  readonly ledger: CallLedger;
  readonly place: Place;
  newCallId(): string;
  ensureRun(runId: string, title: string): Promise<void>;
  facts(instanceId: string): { readonly name: string } | undefined;
}

export interface Invocation {
  invoke(request: InvokeRequest): Promise<InvokeOutcome>;
  close(): void;
}

/** Check → record → dispatch: what happens before a call's id is told to anybody. */
export function createInvocation(deps: InvocationDeps): Invocation {
  const { registry, clock, ledger, store } = deps;
  /** Keys whose call is not on disk yet: of two requests at once, the second waits for the first. */
  const inFlight = new Map<string, { fingerprint: string; outcome: Promise<InvokeOutcome> }>();
  let closed = false;

  async function invoke(request: InvokeRequest): Promise<InvokeOutcome> {
    if (closed) return refuse('shutting_down', 'The server is stopping; ask again in a moment');
    if (store.failed)
      return refuse('store_failed', 'The server cannot write its record; no call is taken');
    return request.idempotencyKey === undefined
      ? create(request)
      : once(request, request.idempotencyKey);
  }

  async function once(request: InvokeRequest, key: string): Promise<InvokeOutcome> {
    const scope = `${principalName(request.principal)}\n${key}`;
    const fingerprint = fingerprintOf(request);
    const running = inFlight.get(scope);
    if (running) return running.fingerprint === fingerprint ? running.outcome : otherBody(key);
    const outcome = (async () => {
      const known = await store.getIdempotency(scope);
      if (!known) return create(request, { scope, fingerprint });
      const call = known.fingerprint === fingerprint ? await ledger.get(known.callId) : undefined;
      return call ? { ok: true as const, call } : otherBody(key);
    })();
    inFlight.set(scope, { fingerprint, outcome });
    try {
      return await outcome;
    } finally {
      inFlight.delete(scope);
    }
  }

  async function create(
    request: InvokeRequest,
    idempotency?: { scope: string; fingerprint: string },
  ): Promise<InvokeOutcome> {
    const found = resolveTarget(registry, request);
    if (!found.ok) return found;
    const checked = found.tool.check(request.args ?? {});
    if (!checked.ok) {
      const { code, message } = invalidArgs(request.tool, checked.details);
      return { ok: false, code, message, details: checked.details };
    }
    const record = newRecord(request, found, checked.args);
    const changes: Change[] = idempotency
      ? [{ type: 'put_idempotency', entry: { ...idempotency, callId: record.id } }]
      : [];
    const placed = deps.place(record, request.principal, found.tool);
    await Promise.all([
      ledger.commit(placed.record, [record.card, ...placed.updates], changes),
      deps.ensureRun(request.runId, request.tool),
    ]);
    placed.after();
    return { ok: true, call: (await ledger.get(record.id)) ?? placed.record };
  }

  function newRecord(
    request: InvokeRequest,
    { tool, name, wantedClientId }: ResolvedTool,
    args: Record<string, unknown>,
  ): CallRecord {
    const routing = {
      ...NO_ROUTING,
      fromClientId: request.fromClientId ?? null,
      hasOwnTimeout: request.timeoutMs !== undefined,
    };
    const { annotations } = tool;
    const timeoutMs = clampTimeout(request.timeoutMs ?? tool.timeoutMs);
    const blank = {
      ...blankRecord(deps.newCallId(), clock.now()),
      runId: request.runId,
      toolName: name,
      source: sourceOf(tool),
      args,
      ...takenFrom(tool, { annotations, timeoutMs, routing }),
      wantedClientId,
      retryOf: request.retryOf ?? null,
      requestedBy: request.requestedBy ?? principalName(request.principal),
    };
    const card = firstCard({ ...blank, phase: 'queued' }, tool.displayName ?? null);
    // A call that may go to one client alone waits for that one.
    const shown = wantedClientId === null ? {} : shownClient(tool, deps.facts);
    return { ...blank, card: { ...card, ...shown } };
  }

  return {
    invoke,
    close() {
      closed = true;
    },
  };
}

export interface ResolvedTool {
  readonly ok: true;
  readonly name: string;
  /** Of the one that would be asked now: the arguments are checked by its word. */
  readonly tool: OfferedTool;
  /** The only client that may be asked, if one was named. */
  readonly wantedClientId: string | null;
}

/** Which tool is meant, whether the asker may call it, and whether anybody serves it now. */
export function resolveTarget(
  registry: ToolRegistry,
  request: Pick<InvokeRequest, 'tool' | 'clientId' | 'fromClientId' | 'principal'>,
): ResolvedTool | InvokeRefusal {
  const { name, clientId: qualified } = parseToolReference(request.tool);
  const wantedClientId = request.clientId ?? qualified ?? null;
  if (!registry.mayCall(request.principal, name)) {
    return refuse('permission_denied', `This token's allow-list does not hold ${name}`);
  }
  const target = registry.find(name, request.fromClientId);
  if (!target) {
    return refuse(
      'tool_not_found',
      `No tool ${name} is offered now; GET /v1/tools lists those that are`,
    );
  }
  if (target.source === 'server') return { ok: true, name, tool: target, wantedClientId: null };
  const wanted = wantedClientId === null ? target : registry.find(`${name}@${wantedClientId}`);
  if (wanted?.source !== 'client') {
    return refuse('no_provider', `The client ${wantedClientId} does not offer ${name} now`);
  }
  return { ok: true, name, tool: wanted.best, wantedClientId };
}

export const sourceOf = (tool: OfferedTool): CallRecord['source'] =>
  isServerTool(tool) ? 'server' : 'client';

/** A call that has just begun to be one: its arguments are still to come. */
export const blankRecord = (id: string, now: number) => ({
  id,
  status: 'PENDING' as const,
  phase: 'streaming' as const,
  result: undefined,
  display: undefined,
  preview: undefined,
  error: null,
  attachments: [],
  resultHash: null,
  lateResult: undefined,
  provider: null,
  granted: false,
  createdAt: now,
  queuedAt: null,
  offeredAt: null,
  startedAt: null,
  completedAt: null,
  deadlines: NO_DEADLINES,
  executeLeftMs: null,
  version: 0,
  toolProvider: 'clients',
  parentCallId: null,
  depth: 0,
  routing: NO_ROUTING,
});

const clampTimeout = (ms: number): number =>
  Math.min(Math.max(Math.round(ms), LIMITS.minTimeoutMs), LIMITS.maxTimeoutMs);

function fingerprintOf(request: InvokeRequest): string {
  const { tool, runId, args, clientId, timeoutMs, fromClientId } = request;
  // As it was before there was a last part: keys that are stored already stay the same.
  const from = fromClientId === undefined ? [] : [fromClientId];
  return hash('sha256', JSON.stringify([tool, runId, args, clientId, timeoutMs, ...from]));
}

const otherBody = (key: string): InvokeRefusal =>
  refuse(
    'conflict_idempotency',
    `The Idempotency-Key ${JSON.stringify(key)} was used for another request; use a new key`,
  );

const refuse = (code: InvokeRefusal['code'], message: string): InvokeRefusal => ({
  ok: false,
  code,
  message,
});
