import type { Call } from '#lib/call/call';
import { HttpError } from '#lib/protocol/http-error';
import type { Role } from '#lib/protocol/role';
import type { RunRecord } from '#lib/protocol/run';
import { type AuditedAct, type Caller, isOwn } from '../../auth/room.ts';
import type { By } from '../../clients/room.ts';
import type { Allowed } from '../allowed.ts';
import type { HttpDeps } from '../http-deps.ts';
import type { RequestContext } from '../route.ts';

/** Contract, section 4. */
const allowed = (role: Role, ...also: Allowed['also']): Allowed => ({ role, also });

export const EVERYONE = allowed('viewer', 'agent', 'device');
/** Agents may read it too. */
export const READERS = allowed('viewer', 'agent');
export const VIEWERS = allowed('viewer');
export const AGENTS = allowed('operator', 'agent');
/** They answer calls, or make them. */
export const UPLOADERS = allowed('operator', 'agent', 'device');
export const OPERATORS = allowed('operator');
export const ADMINS = allowed('admin');
export const CLIENTS = allowed('operator', 'device');

/** The call, or the same refusal whether there is none or the caller may not see it. A large one waits for its turn. */
export async function findCall(
  deps: HttpDeps,
  caller: Caller,
  id: string,
  context: Pick<RequestContext, 'makeRoom'>,
): Promise<Call> {
  await context.makeRoom(await deps.calls.storedBytes(id));
  const call = await deps.calls.get(id);
  if (call && isOwn(caller, call.ownerToken)) return call;
  throw deps.calls.wasDeleted(id) ? callDeleted(id) : callNotFound(id);
}

/** The run, or the same refusal whether there is none or the caller may not see it. */
export async function findRun(deps: HttpDeps, caller: Caller, id: string): Promise<RunRecord> {
  const run = await deps.runs.get(id);
  if (run && isOwn(caller, run.owner?.token_id ?? null)) return run;
  throw runNotFound(id);
}

/** An act of a person by a request. */
export interface Act extends Pick<AuditedAct, 'act'>, Partial<Pick<AuditedAct, 'detail'>> {
  readonly principal: Caller;
  readonly context: RequestContext;
}

/** An id as a refusal repeats it. */
export const quoted = (id: string): string => JSON.stringify(id.slice(0, 128));

const callNotFound = (id: string): HttpError =>
  new HttpError(
    'call_not_found',
    `There is no tool call ${quoted(id)}; GET /v1/tool_calls lists them.`,
  );

/** By the time in the id alone, so that it says nothing of a call that the caller may not see. */
const callDeleted = (id: string): HttpError =>
  new HttpError(
    'call_deleted',
    `There is no tool call ${quoted(id)} any more: what is as old is deleted (CALLBOARD_KEEP_DAYS, CALLBOARD_KEEP_BYTES).`,
  );

const runNotFound = (id: string): HttpError =>
  new HttpError('run_not_found', `There is no run ${quoted(id)}; GET /v1/runs lists them.`);

/** Says who made a request, and from where. */
export const askedBy = (asked: {
  readonly principal: Caller;
  readonly context: { readonly address: string };
}): By => ({ caller: asked.principal, address: asked.context.address });
