import { type Call, NO_ROUTING } from '#lib/call/call';
import type { ActorName, CallEvent } from '#lib/call/call-event';
import { type InvokeRefusal, invalidArgs } from '#lib/call/call-outcome';
import { boundUpdate } from '#lib/call/merge-card';
import { newCall } from '#lib/call/new-call';
import { shownRepairs } from '#lib/call/view';
import { isRecord } from '#lib/json/is-record';
import type { CallError } from '#lib/protocol/call-status';
import type { CardUpdate } from '#lib/protocol/card';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { CLOCKS } from '#lib/protocol/limits';
import { parseToolReference } from '#lib/protocol/tool-name';
import { given } from '#lib/util/given';
import { type RuleUse, shownClient } from '../approvals/room.ts';
import { callerOf, principalName } from '../auth/room.ts';
import { OF_SERVER } from '../tools/room.ts';
import { executorOf } from './call-executor.ts';
import type { CallParts } from './call-parts.ts';
import type { AbandonedDraft, CallService, DraftCall } from './call-service.ts';
import { type ResolvedTool, resolveTarget, takenFrom } from './router.ts';

/**
 * One look at a time, and the newest next: what is written while a tool still looks is not
 * looked at one by one. None begins after the end.
 */
class PartialLooks<Args> {
  readonly #look: (args: Args) => void | Promise<void>;
  readonly #failed: (error: unknown) => void;
  #next: { readonly args: Args } | undefined;
  #isLooking = false;
  #hasEnded = false;

  constructor(look: (args: Args) => void | Promise<void>, failed: (error: unknown) => void) {
    this.#look = look;
    this.#failed = failed;
  }

  add(args: Args): void {
    this.#next = { args };
    if (!this.#isLooking) void this.#lookAtAll();
  }

  end(): void {
    this.#hasEnded = true;
  }

  async #lookAtAll(): Promise<void> {
    this.#isLooking = true;
    while (this.#next && !this.#hasEnded) {
      const { args } = this.#next;
      this.#next = undefined;
      try {
        await this.#look(args);
      } catch (error) {
        // The call itself may be all right.
        this.#failed(error);
        this.end();
      }
    }
    this.#isLooking = false;
  }
}

export type DraftRequest = Parameters<CallService['draft']>[0];

/** A card with the phase `streaming`: on disk from the start, so that no id is ever lost. */
export async function openDraft(deps: CallParts, request: DraftRequest): Promise<DraftCall> {
  const call = newDraft(deps, request);
  const applied = deps.engine.create(call, undefined, call.requestedBy);
  if (!applied.ok) throw new Error(`A new draft was refused: ${applied.refusal}`);
  await applied.written;
  return new Draft(deps, request, call);
}

function newDraft({ registry, clock, newCallId }: CallParts, request: DraftRequest): Call {
  const tool = registry.find(request.tool, request.fromClientId)?.best;
  const { name, clientId } = parseToolReference(request.tool);
  const fields = {
    id: newCallId(),
    routing: { ...NO_ROUTING, fromClientId: request.fromClientId ?? null },
    runId: request.runId,
    toolName: tool ? name : request.tool,
    ...(tool?.origin ?? OF_SERVER),
    args: {},
    annotations: tool?.annotations ?? {},
    timeoutMs: tool?.timeoutMs ?? CLOCKS.executeMs,
    wantedClientId: (tool && clientId) ?? null,
    retryOf: null,
    requestedBy: principalName(request.principal),
    ownerToken: callerOf(request.principal).tokenId,
    displayName: tool?.displayName ?? null,
    shown: { partial: true },
    parent: request.parent,
    ...given({ traceparent: request.traceparent, modelCallId: request.modelCallId }),
  };
  return newCall(fields, clock.now());
}

type ReadArgs = NonNullable<Parameters<DraftCall['update']>[1]>;

class Draft implements DraftCall {
  readonly callId: string;
  readonly #deps: CallParts;
  readonly #request: DraftRequest;
  /** Undefined where no one may look: the caller may not call the tool. */
  readonly #looks: PartialLooks<ReadArgs> | undefined;
  #written: Record<string, unknown> = {};

  constructor(deps: CallParts, request: DraftRequest, call: Call) {
    const { registry, executors, withholding, logger } = deps;
    this.callId = call.id;
    this.#deps = deps;
    this.#request = request;
    const look = executorOf(executors, call).partialOf?.(call);
    if (!look || !registry.mayCall(request.principal, call.toolName)) return;
    this.#looks = new PartialLooks(async (read) => {
      const args = await read();
      if (args) await look(withholding.ofPartial(call, args));
    }, logger.error);
  }

  /** Only what changed is given, but whether all of it is small can only be said of all of it. */
  update(changed: Record<string, unknown>, whole?: ReadArgs): void {
    this.#written = { ...this.#written, ...changed };
    const bounded = boundUpdate(undefined, { params: this.#written, partial: true });
    const { params = {}, ...sizes } = bounded;
    const keys = Object.keys(changed).filter((key) => Object.hasOwn(params, key));
    const shown: CardUpdate = {
      ...sizes,
      params: Object.fromEntries(keys.map((key) => [key, params[key]])),
    };
    this.#deps.engine.sketch(this.callId, shown);
    if (whole) this.#looks?.add(whole);
  }

  async complete(args: unknown, clientId?: string): Promise<Call> {
    this.#looks?.end();
    const call = await this.#current();
    if (isFinalStatus(call.status)) return call;
    const request = clientId === undefined ? this.#request : { ...this.#request, clientId };
    const given = isRecord(args) ? { args } : {};
    const found = resolveTarget(this.#deps.registry, request);
    if (!found.ok) return this.#refuse(toCallError(found, request.tool), given);
    const { tool, wantedClientId } = found;
    const checked = tool.check(args);
    if (!checked.ok) return this.#refuse(invalidArgs(request.tool, checked.details), given);
    const terms = {
      ...takenFrom(tool, call),
      ...tool.origin,
      trusted: tool.origin.trusted,
      wantedClientId,
    };
    const fields = { ...terms, args: checked.args };
    // The decision is made on its newest state: an end in the meantime stands.
    const decided = await this.#deps.approvals.questions.eventFor(
      call,
      request.principal,
      tool,
      fields,
    );
    if (decided.type === 'rate_limited') return this.#refuse(tooMany(decided.message), given);
    const { event, by, use } = decided;
    const shown = { ...event.shown, ...this.#shownOf(found), ...shownRepairs(checked.repairs) };
    return this.#apply({ ...event, shown }, by, use);
  }

  /** Which client a call is for that one alone may take, or that each is asked. */
  #shownOf({ tool, wantedClientId }: ResolvedTool): CardUpdate {
    if (wantedClientId === null) return {};
    return tool.decidedBelow ? { source: tool.origin.source } : shownClient(tool, this.#deps.facts);
  }

  async abandon(message: string, why: AbandonedDraft = {}): Promise<Call> {
    this.#looks?.end();
    const { code = 'invalid_args', reason, args } = why;
    const error = { code, message, executed: 'no' as const };
    return this.#refuse(
      reason === undefined ? error : { ...error, reason },
      args === undefined ? {} : { args },
    );
  }

  #refuse(error: CallError, fields: { args?: Record<string, unknown> }): Promise<Call> {
    return this.#apply({ type: 'refused', error, fields, shown: { partial: false } });
  }

  async #apply(event: CallEvent, by?: ActorName, use?: RuleUse): Promise<Call> {
    const { engine } = this.#deps;
    const call = await this.#current();
    const applied = engine.apply(call, event, by ?? call.requestedBy, use?.counted);
    // A draft that ended in the meantime has no use of the rule.
    use?.release();
    if (applied.ok) await applied.written;
    return this.#current();
  }

  async #current(): Promise<Call> {
    const call = await this.#deps.repository.find(this.callId);
    if (!call) throw new Error(`The draft ${this.callId} is gone`);
    return call;
  }
}

const tooMany = (message: string): CallError => ({
  code: 'denied',
  message,
  executed: 'no',
  reason: 'rate_limited',
});

/** For a model, which reads neither URLs nor allow-lists. */
function toCallError({ code, message }: InvokeRefusal, tool: string): CallError {
  if (code === 'permission_denied') return { code: 'denied', message, executed: 'no' };
  const words = code === 'tool_not_found' ? `The tool ${tool} is not offered any more.` : message;
  return { code: 'no_provider', message: words, executed: 'no' };
}
