import { hash } from 'node:crypto';
import type { CardUpdate } from '#lib/protocol/card';
import { LIMITS } from '#lib/protocol/limits';
import { parseToolReference } from '#lib/protocol/tool-name';
import { principalName } from '../auth/principal.ts';
import type { Clock } from '../clock.ts';
import type { CallRecord } from '../store/call-record.ts';
import type { Change, Store } from '../store/store.ts';
import type { ToolRegistry, ToolTarget } from '../tools/tool-registry.ts';
import { firstCard, NO_DEADLINES } from './advance.ts';
import type { CallLedger } from './call-ledger.ts';
import type { InvokeOutcome, InvokeRefusal, InvokeRequest } from './call-service.ts';
import type { Place } from './placement.ts';

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
    const { target, pin } = found;
    const checked = (target.source === 'server' ? target : found.first).check(request.args ?? {});
    if (!checked.ok) {
      return {
        ok: false,
        code: 'invalid_args',
        message: `The arguments do not fit ${request.tool}: ${checked.details.map(({ path, problem }) => `${path || 'args'} ${problem}`).join('; ')}`,
        details: checked.details,
      };
    }
    const record = newRecord(request, target, pin, checked.args);
    const changes: Change[] = idempotency
      ? [{ type: 'put_idempotency', entry: { ...idempotency, callId: record.id } }]
      : [];
    const placed = deps.place(record, request.principal);
    await Promise.all([
      ledger.commit(placed.record, [record.card, ...placed.updates], changes),
      deps.ensureRun(request.runId, request.tool),
    ]);
    placed.after();
    return { ok: true, call: (await ledger.get(record.id)) ?? placed.record };
  }

  function newRecord(
    request: InvokeRequest,
    target: ToolTarget,
    pin: Pin | null,
    args: Record<string, unknown>,
  ): CallRecord {
    const facts = factsOf(target);
    const blank = {
      ...blankRecord(request.callId ?? deps.newCallId(), clock.now()),
      runId: request.runId,
      toolName: facts.name,
      source: target.source,
      args,
      annotations: facts.annotations,
      timeoutMs: clampTimeout(request.timeoutMs ?? facts.timeoutMs),
      wantedClientId: pin?.clientId ?? null,
      retryOf: request.retryOf ?? null,
      requestedBy: request.requestedBy ?? principalName(request.principal),
    };
    const card = firstCard({ ...blank, phase: 'queued' }, facts.displayName);
    return { ...blank, card: pin ? { ...card, ...pinned(pin) } : card };
  }

  /** Whom a call waits for that may go to one client alone. */
  function pinned({ clientId, instanceId }: Pin): Pick<CardUpdate, 'client_id' | 'client_name'> {
    const name = deps.facts(instanceId)?.name;
    return { client_id: clientId, ...(name === undefined ? {} : { client_name: name }) };
  }

  return {
    invoke,
    close() {
      closed = true;
    },
  };
}

type Resolved =
  | {
      readonly ok: true;
      readonly target: ToolTarget;
      readonly first: {
        check: (args: unknown) => ReturnType<Extract<ToolTarget, { source: 'server' }>['check']>;
      };
      readonly pin: Pin | null;
    }
  | InvokeRefusal;

/** The one client that may be asked, and one of its instances. */
interface Pin {
  readonly clientId: string;
  readonly instanceId: string;
}

/** Which tool is meant, whether the asker may call it, and whether anybody serves it now. */
export function resolveTarget(
  registry: ToolRegistry,
  request: Pick<InvokeRequest, 'tool' | 'clientId' | 'principal'>,
): Resolved {
  const { name, clientId: qualified } = parseToolReference(request.tool);
  const wantedClientId = request.clientId ?? qualified ?? null;
  if (!registry.mayCall(request.principal, name)) {
    return refuse('permission_denied', `This token's allow-list does not hold ${name}`);
  }
  const target = registry.find(name);
  if (!target) {
    return refuse(
      'tool_not_found',
      `No tool ${name} is offered now; GET /v1/tools lists those that are`,
    );
  }
  if (target.source === 'server') return { ok: true, target, first: target, pin: null };
  const first = target.candidates.find(
    (one) => wantedClientId === null || one.clientId === wantedClientId,
  );
  if (!first) {
    return refuse('no_provider', `The client ${wantedClientId} does not offer ${name} now`);
  }
  const pin =
    wantedClientId === null ? null : { clientId: wantedClientId, instanceId: first.instanceId };
  return { ok: true, target, first, pin };
}

/** What the record keeps of a tool, whoever serves it. */
export function factsOf(target: ToolTarget) {
  if (target.source === 'server') {
    const { name, displayName, timeoutMs, effect } = target.tool;
    return { name, displayName, timeoutMs, annotations: { readOnlyHint: effect === 'read' } };
  }
  const [first] = target.candidates;
  return {
    name: target.name,
    displayName: first?.displayName ?? null,
    timeoutMs: first?.timeoutMs ?? 30_000,
    annotations: first?.annotations ?? {},
  };
}

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
});

const clampTimeout = (ms: number): number =>
  Math.min(Math.max(Math.round(ms), LIMITS.minTimeoutMs), LIMITS.maxTimeoutMs);

function fingerprintOf({ tool, runId, args, clientId, timeoutMs }: InvokeRequest): string {
  return hash('sha256', JSON.stringify([tool, runId, args, clientId, timeoutMs]));
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
