import type { Call } from '#lib/call/call';
import { HttpError } from '#lib/protocol/http-error';
import type { RunRecord } from '#lib/protocol/run';
import { type AuditedAct, byCaller, type Caller } from '../../auth/room.ts';
import type { By } from '../../clients/room.ts';
import { seenCall, seenRun } from '../../doors/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import type { RequestContext } from '../route.ts';

/** The call, or the same refusal whether there is none or the caller may not see it. A large one waits for its turn. */
export async function findCall(
  deps: HttpDeps,
  caller: Caller,
  id: string,
  { makeRoom }: Pick<RequestContext, 'makeRoom'>,
): Promise<Call> {
  const call = await seenCall(deps, caller, id, makeRoom);
  if (call) return call;
  throw deps.calls.wasDeleted(id) ? callDeleted(id) : callNotFound(id);
}

/** The run, or the same refusal whether there is none or the caller may not see it. */
export async function findRun(deps: HttpDeps, caller: Caller, id: string): Promise<RunRecord> {
  const run = await seenRun(deps, caller, id);
  if (run) return run;
  throw runNotFound(id);
}

interface Asked {
  readonly principal: Caller;
  readonly context: { readonly address: string };
}

/** An act of a person by a request. */
export interface Act extends Asked, Pick<AuditedAct, 'act'>, Partial<Pick<AuditedAct, 'detail'>> {}

/** Writes down what the caller did by a request. */
export const writeDown = (
  { audit }: Pick<HttpDeps, 'audit'>,
  { principal, context }: Asked,
  act: Parameters<typeof byCaller>[2],
): Promise<void> => audit.record(byCaller(principal, context.address, act));

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
export const askedBy = ({ principal, context }: Asked): By => ({
  caller: principal,
  address: context.address,
});
