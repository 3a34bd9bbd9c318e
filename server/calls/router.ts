import type { Call } from '#lib/call/call';
import { isRerunnable } from '#lib/call/call';
import type { CallEvent, EventFields } from '#lib/call/call-event';
import { type InvokeRefusal, reject } from '#lib/call/call-outcome';
import type { NeverStarted } from '#lib/call/call-state';
import { shownRepairs } from '#lib/call/view';
import { sameJson } from '#lib/json/equal';
import { parseAskingClient } from '#lib/protocol/asking-client';
import { parseToolReference } from '#lib/protocol/tool-name';
import type { AnyTool, ClientTool, OfferedTool, ToolRegistry } from '../tools/room.ts';
import type { Breaker } from './breaker.ts';
import type { InvokeRequest } from './call-service.ts';
import { type Candidate, type Only, routeCall, type Taker } from './route-call.ts';

/** Routing depends on these facts of a client instance beside its tools. */
export interface InstanceFacts {
  readonly clientId: string;
  readonly claims: boolean;
  readonly journalEpoch: string | null;
  readonly name: string;
  /** It answers probes. */
  readonly responsive: boolean;
}

export interface RouterDeps {
  readonly registry: Pick<ToolRegistry, 'find'>;
  readonly breaker: Pick<Breaker, 'admits'>;
  /** A person decides anew, as what was to be approved has changed. */
  askedAgain(call: Call, tool: OfferedTool, fields: EventFields): CallEvent;
  facts(instanceId: string): InstanceFacts | undefined;
}

/** Finds the executor that can take a call now, as the event that brings it there. It changes nothing. */
export class Router {
  readonly #deps: RouterDeps;

  constructor(deps: RouterDeps) {
    this.#deps = deps;
  }

  /** Undefined while the call goes on waiting. */
  next(call: Call, neverStarted?: NeverStarted): CallEvent | undefined {
    const tool = this.#targetOf(call, call.wantedClientId)?.best;
    const first = tool && { tool, isAvailable: this.#answers(tool) && this.#mayBeAsked(tool) };
    const route = routeCall(call, first, (only) => this.#candidates(call, only), neverStarted);
    if (route.to === 'no_executor') return undefined;
    if (route.to === 'end') return { type: 'refused', error: route.error };
    const event = this.#eventOf(call, route, neverStarted);
    const repairs = shownRepairs(route.repairs, call.card);
    return event && { ...event, shown: { ...event.shown, ...repairs } };
  }

  #eventOf(
    call: Call,
    { to, tool, args }: Taker,
    neverStarted: NeverStarted | undefined,
  ): CallEvent | undefined {
    const fields = { ...takenFrom(tool, call), args };
    if (to === 'approval') return this.#deps.askedAgain(call, tool, fields);
    return isClientTool(tool)
      ? this.#offered(call, tool, fields, neverStarted)
      : { type: 'started_here', fields };
  }

  /** True when this instance offers the tool under other terms than the call was offered on. */
  isOfferOutdated(call: Call, instanceId: string): boolean {
    const clientId = call.provider?.clientId;
    const only = clientId === undefined ? {} : { clientId };
    const own = this.#candidates(call, only).find(({ tool }) => tool.instanceId === instanceId);
    return own !== undefined && hasOtherTerms(own.tool, call);
  }

  /** Gives the tools of this name in the order in which they are asked for this call. */
  *#candidates(call: Call, { clientId, schemaHash, answering }: Only): Generator<Candidate> {
    const target = this.#targetOf(call, clientId ?? call.wantedClientId);
    if (!target) return;
    const asking = parseAskingClient(call.routing.fromClientId);
    const tools = schemaHash === undefined ? target.candidates : target.withSchema(schemaHash);
    for (const tool of tools) {
      // Behind the first that does not answer are no others that do, but for the asking's own.
      const isSilent = !this.#answers(tool);
      if (answering && isSilent && tool.clientId !== asking?.clientId) return;
      yield { tool, isAvailable: !isSilent && this.#mayBeAsked(tool) };
    }
  }

  #targetOf({ toolName, toolProvider, routing }: Call, clientId: string | null) {
    const reference = clientId === null ? toolName : `${toolName}@${clientId}`;
    const target = this.#deps.registry.find(reference, routing.fromClientId);
    return target?.best.origin.toolProvider === toolProvider ? target : undefined;
  }

  #answers(tool: AnyTool): boolean {
    return isClientTool(tool)
      ? this.#deps.facts(tool.instanceId)?.responsive === true
      : tool.unavailable === undefined;
  }

  #mayBeAsked({ instanceId, name }: AnyTool): boolean {
    return instanceId === null || this.#deps.breaker.admits(instanceId, name);
  }

  #offered(
    call: Call,
    tool: ClientTool,
    fields: EventFields,
    neverStarted: NeverStarted | undefined,
  ): CallEvent | undefined {
    const facts = this.#deps.facts(tool.instanceId);
    if (!facts) return undefined;
    const { clientId, instanceId } = tool;
    const { claims, journalEpoch } = facts;
    const attempt = (call.provider?.attempt ?? 0) + 1;
    const title = tool.displayName ?? null;
    return {
      type: 'offered',
      provider: { clientId, instanceId, attempt, claims, journalEpoch },
      rerunnable: isRerunnable(tool),
      neverStarted,
      fields,
      shown: {
        client_name: facts.name,
        ...(call.card.display_name === title ? {} : { display_name: title }),
      },
    };
  }
}

export const isClientTool = (tool: AnyTool): tool is ClientTool => tool.clientId !== null;

/** The registry finds the tool of the call by it: that of the client that was named, if one was. */
export const referenceOf = ({
  toolName,
  wantedClientId,
}: Pick<Call, 'toolName' | 'wantedClientId'>): string =>
  wantedClientId === null ? toolName : `${toolName}@${wantedClientId}`;

type Taken = Pick<Call, 'annotations' | 'timeoutMs' | 'routing'>;

/**
 * A call takes this over from the tool that it goes to (rule CR2): no other
 * client's word counts. What does not change stays the same object, so that it
 * is not written again.
 */
export function takenFrom(tool: OfferedTool, { annotations, timeoutMs, routing }: Taken): Taken {
  const { clientId: checkedForClientId, schemaHash } = tool;
  const isSame =
    schemaHash === routing.schemaHash && checkedForClientId === routing.checkedForClientId;
  return {
    annotations: sameJson(annotations, tool.annotations) ? annotations : tool.annotations,
    timeoutMs: routing.hasOwnTimeout ? timeoutMs : tool.timeoutMs,
    routing: isSame ? routing : { ...routing, checkedForClientId, schemaHash },
  };
}

/** True when a tool is not the one under which its call was offered, or is to start. */
export function hasOtherTerms(tool: OfferedTool, call: Call): boolean {
  const { approval } = call.routing;
  const { annotations, routing } = takenFrom(tool, call);
  return (
    annotations !== call.annotations ||
    routing !== call.routing ||
    (approval !== null && approval.toolHash !== tool.toolHash)
  );
}

export interface ResolvedTool {
  readonly ok: true;
  readonly name: string;
  /** It would be asked now: the arguments are checked by its schema. */
  readonly tool: AnyTool;
  /** The only client that may be asked, if one was named. */
  readonly wantedClientId: string | null;
}

/** Which tool is meant, whether the caller may call it, and whether any executor serves it now. */
export function resolveTarget(
  registry: ToolRegistry,
  request: Pick<InvokeRequest, 'tool' | 'clientId' | 'fromClientId' | 'principal'>,
): ResolvedTool | InvokeRefusal {
  const { name, clientId: qualified } = parseToolReference(request.tool);
  const wantedClientId = request.clientId ?? qualified ?? null;
  if (!registry.mayCall(request.principal, name)) {
    return reject('permission_denied', `This token's allow-list does not hold ${name}`);
  }
  const target = registry.find(name, request.fromClientId);
  if (!target) {
    return reject(
      'tool_not_found',
      `No tool ${name} is offered now; GET /v1/tools lists those that are`,
    );
  }
  const { best: tool } = target;
  if (wantedClientId === null || !isClientTool(tool))
    return { ok: true, name, tool, wantedClientId: null };
  const wanted = registry.find(`${name}@${wantedClientId}`, request.fromClientId);
  if (!wanted) {
    return reject('no_provider', `The client ${wantedClientId} does not offer ${name} now`);
  }
  return { ok: true, name, tool: wanted.best, wantedClientId };
}
