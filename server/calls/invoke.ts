import { hash } from 'node:crypto';
import { type Call, NO_ROUTING } from '#lib/call/call';
import type { CallEvent } from '#lib/call/call-event';
import {
  type InvokeOutcome,
  type InvokeRefusal,
  invalidArgs,
  reject,
} from '#lib/call/call-outcome';
import { newCall } from '#lib/call/new-call';
import { shownRepairs } from '#lib/call/view';
import { LIMITS } from '#lib/protocol/limits';
import type { ArgsCheck } from '#lib/schema/compile-tool-schema';
import { given } from '#lib/util/given';
import { type Decided, shownClient } from '../approvals/room.ts';
import { actorOf, callerOf, principalKey, principalName } from '../auth/room.ts';
import type { IdempotencyEntry } from '../store/room.ts';
import type { OfferedTool } from '../tools/room.ts';
import type { CallParts } from './call-parts.ts';
import type { InvokeRequest, RunClaim } from './call-service.ts';
import type { Applied } from './engine.ts';
import { type ResolvedTool, resolveTarget, takenFrom } from './router.ts';

type Idempotency = Omit<IdempotencyEntry, 'callId'>;

/** Check, record, route: what happens before a call's id is returned. */
export class Invocation {
  readonly #deps: CallParts;
  /** Keys whose call is not on disk yet: of two requests at once, the second waits for the first. */
  readonly #inFlight = new Map<string, { fingerprint: string; outcome: Promise<InvokeOutcome> }>();
  #isClosed = false;

  constructor(deps: CallParts) {
    this.#deps = deps;
  }

  readonly invoke = async (request: InvokeRequest): Promise<InvokeOutcome> => {
    if (this.#isClosed) return stopping();
    if (this.#deps.store.failed)
      return reject('store_failed', 'The server cannot write its record; no call is taken');
    return request.idempotencyKey === undefined
      ? this.#create(request)
      : this.#once(request, request.idempotencyKey);
  };

  close(): void {
    this.#isClosed = true;
  }

  async #once(request: InvokeRequest, key: string): Promise<InvokeOutcome> {
    const scope = `${principalKey(request.principal)}\n${key}`;
    const args = this.#deps.withholding.forHash(request.tool, request.args);
    const fingerprint = fingerprintOf({ ...request, args });
    const running = this.#inFlight.get(scope);
    if (running) {
      return running.fingerprint === fingerprint ? repeated(await running.outcome) : otherBody(key);
    }
    const outcome = this.#createOnce(request, { scope, fingerprint }, key);
    this.#inFlight.set(scope, { fingerprint, outcome });
    try {
      return await outcome;
    } finally {
      this.#inFlight.delete(scope);
    }
  }

  async #createOnce(request: InvokeRequest, idempotency: Idempotency, key: string) {
    const { store, repository } = this.#deps;
    const known = await store.getIdempotency(idempotency.scope);
    if (!known) return this.#create(request, idempotency);
    const isSame = known.fingerprint === idempotency.fingerprint;
    const call = isSame ? await repository.get(known.callId) : undefined;
    return call ? repeated({ ok: true, call }) : otherBody(key);
  }

  async #create(request: InvokeRequest, idempotency?: Idempotency): Promise<InvokeOutcome> {
    const { registry, approvals, repository } = this.#deps;
    const found = resolveTarget(registry, request);
    if (!found.ok) return found;
    const checked = found.tool.check(request.args);
    if (!checked.ok) {
      const { code, message } = invalidArgs(request.tool, checked.details);
      return { ok: false, code, message, details: checked.details };
    }
    const { principal, runId } = request;
    const claimed = this.#deps.claimRun(runId, request.tool, principal);
    // A call in a run that is known is decided in the moment in which it was asked for.
    const run = claimed instanceof Promise ? await claimed : claimed;
    const foreign = runOfAnother(request, run);
    if (foreign) return foreign;
    const call = this.#newCall(request, found, { checked, ownerToken: run.ownerToken });
    const checking = approvals.questions.eventFor(call, principal, found.tool);
    const decided = checking instanceof Promise ? await checking : checking;
    if (decided.type === 'rate_limited') {
      return { ...reject('rate_limited', decided.message), retryAfter: decided.retryAfter };
    }
    if (this.#isClosed) {
      decided.use?.release();
      return stopping();
    }
    // The run is written first: the call belongs to it.
    const runWritten = run.write();
    const [created, last] = this.#enter(call, found.tool, { request, decided, idempotency });
    // guard: accepted-once-written
    await Promise.all([created.written, last.written, runWritten]);
    // guard: accepted-as-stored
    return { ok: true, call: (await repository.get(call.id)) ?? created.record };
  }

  /** The call as it was asked for, with what the policy made of it, and what is written beside it. */
  #enter(call: Call, tool: OfferedTool, { request, decided, idempotency }: Entering) {
    const { engine } = this.#deps;
    const { event, by, use } = decided;
    const entry = idempotency && { ...idempotency, callId: call.id };
    // guard: idempotency-key-stored
    const more = entry ? [{ type: 'put_idempotency' as const, entry }] : [];
    const beside = [...more, ...(request.together ? [request.together(call)] : [])];
    const counted = () => use?.counted() ?? [];
    const actor = actorOf(request.principal);
    const options = { mayWait: request.waitsForEnd, tool };
    if (by === undefined) {
      const all = { ...options, more: [...beside, ...counted()] };
      const applied = taken(event, engine.create(call, event, actor, all));
      return [applied, applied] as const;
    }
    // A hook's work is an event of its own, after the call as it was asked for.
    const applied = taken(
      event,
      engine.create(call, undefined, actor, { ...options, more: beside }),
    );
    return [applied, taken(event, engine.apply(call, event, by, counted))] as const;
  }

  #newCall(
    request: InvokeRequest,
    { tool, name, wantedClientId }: ResolvedTool,
    { checked, ownerToken }: Checked,
  ): Call {
    const { clock, facts, newCallId } = this.#deps;
    const { args, repairs } = checked;
    const routing = {
      ...NO_ROUTING,
      fromClientId: request.fromClientId ?? null,
      hasOwnTimeout: request.timeoutMs !== undefined,
      ...given({ via: request.via }),
    };
    const { annotations } = tool;
    const timeoutMs = clampTimeout(request.timeoutMs ?? tool.timeoutMs);
    const fields = {
      id: newCallId(),
      runId: request.runId,
      toolName: name,
      ...tool.origin,
      args,
      ...takenFrom(tool, { annotations, timeoutMs, routing }),
      wantedClientId,
      retryOf: request.retryOf ?? null,
      requestedBy: principalName(request.principal),
      ownerToken,
      displayName: tool.displayName ?? null,
      parent: request.parent,
      ...given({ traceparent: request.traceparent }),
      // A call that may go to one client alone waits for that one.
      shown: {
        ...(wantedClientId === null ? {} : shownClient(tool, facts)),
        ...shownRepairs(repairs),
      },
    };
    return newCall(fields, clock.now());
  }
}

/** A new call takes the first event that is decided of it. */
function taken(event: CallEvent, applied: Applied): Extract<Applied, { ok: true }> {
  if (!applied.ok) throw new Error(`A new call refused ${event.type}: ${applied.refusal}`);
  return applied;
}

interface Entering {
  readonly request: InvokeRequest;
  readonly decided: Decided;
  readonly idempotency: Idempotency | undefined;
}

/** The arguments as they run, and who owns the run. */
interface Checked {
  readonly checked: Extract<ArgsCheck, { ok: true }>;
  readonly ownerToken: string | null;
}

const clampTimeout = (ms: number): number =>
  Math.min(Math.max(Math.round(ms), LIMITS.minTimeoutMs), LIMITS.maxTimeoutMs);

function fingerprintOf(request: InvokeRequest): string {
  const { tool, runId, args, clientId, timeoutMs, fromClientId, retryOf } = request;
  // A part that is not given adds nothing: the fingerprints that are stored stay the same.
  const from = fromClientId === undefined ? [] : [fromClientId];
  const more = retryOf === undefined ? from : [fromClientId, retryOf];
  return hash('sha256', JSON.stringify([tool, runId, args, clientId, timeoutMs, ...more]));
}

/**
 * A run belongs to the one who first named it: what is allowed there is for the calls of its owner.
 * An agent is answered as if there were no such run. What a person adds to a call that is there,
 * such as a retry, is another call in its run.
 */
function runOfAnother(
  { principal, runId, retryOf, parent }: InvokeRequest,
  { ownerToken, ownerName }: RunClaim,
): InvokeRefusal | undefined {
  const { kind, tokenId } = callerOf(principal);
  if (ownerToken === tokenId) return undefined;
  const id = JSON.stringify(runId);
  if (kind === 'agent')
    return reject('run_not_found', `There is no run ${id} of yours; use an id of your own`);
  if (retryOf !== undefined || parent !== undefined) return undefined;
  return reject('conflict', `The run ${id} belongs to ${ownerName}; call in a run of your own`);
}

const stopping = (): InvokeRefusal =>
  reject('shutting_down', 'The server is stopping; ask again in a moment');

const repeated = (outcome: InvokeOutcome): InvokeOutcome =>
  outcome.ok ? { ...outcome, isRepeat: true } : outcome;

const otherBody = (key: string): InvokeRefusal =>
  reject(
    'conflict_idempotency',
    `The Idempotency-Key ${JSON.stringify(key)} was used for another request; use a new key`,
  );
