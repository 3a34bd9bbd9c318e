import type { Call } from '#lib/call/call';
import { HttpError } from '#lib/protocol/http-error';
import { hasRole, ROLES, type Role } from '#lib/protocol/role';
import type { RunRecord } from '#lib/protocol/run';
import {
  actorOf,
  type Caller,
  isOwn,
  ownToken,
  principalKey,
  principalName,
} from '../auth/room.ts';
import type { BlobStore } from '../blobs/room.ts';
import type { CallService } from '../calls/room.ts';
import type { RunService } from '../runs/room.ts';
import type { History } from '../store/room.ts';

/** People from this role on may use a route or a socket, and programs of these kinds; null: no person may. */
export interface Allowed {
  readonly role: Role | null;
  readonly also: readonly Exclude<Caller['kind'], 'operator'>[];
}

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
/** A person's token decides for people: a program that had it would approve its own calls. */
export const PROGRAMS = { role: null, also: ['agent'] } as const satisfies Allowed;

/** E.g. `people with the role operator or admin, and programs`. */
export function allowedText({ role, also }: Allowed): string {
  const roles = role === null ? [] : ROLES.filter((one) => hasRole(one, role));
  const others = also.map((kind) => `${KINDS[kind]}s`).join(' and ');
  const people = roles.length > 0 ? [`people with the role ${roles.join(' or ')}`] : [];
  return [...people, ...(others === '' ? [] : [others])].join(', and ');
}

const KINDS = { agent: 'program', device: 'device' } as const;
const MAKE_ONE = ': make a token of the kind "agent" under Settings, or by POST /v1/tokens.';

/** Why the caller may not, or undefined when it may. */
export function refuseCaller({ role, also }: Allowed, caller: Caller): HttpError | undefined {
  const { kind } = caller;
  const may =
    kind === 'operator' ? role !== null && hasRole(caller.role, role) : also.includes(kind);
  if (may) return undefined;
  const words = kind === 'operator' ? `with the role "${caller.role}"` : `of a ${KINDS[kind]}`;
  const message = `A token ${words} may not do this; it is for ${allowedText({ role, also })}`;
  const isPersonAtPrograms = kind === 'operator' && role === null;
  return new HttpError('permission_denied', `${message}${isPersonAtPrograms ? MAKE_ONE : '.'}`);
}

type MakeRoom = (bytes: number) => Promise<void>;

/**
 * The call; undefined where there is none, or it is another's: the two look alike. A large one waits
 * for its turn before it is read, whosever it is.
 */
export async function seenCall(
  { calls }: { readonly calls: Pick<CallService, 'get' | 'storedBytes'> },
  caller: Caller,
  id: string,
  makeRoom: MakeRoom,
): Promise<Call | undefined> {
  await makeRoom(await calls.storedBytes(id));
  const call = await calls.get(id);
  return call && isOwn(caller, call.ownerToken) ? call : undefined;
}

/** The run; undefined where there is none, or it is another's. */
export async function seenRun(
  { runs }: { readonly runs: Pick<RunService, 'get'> },
  caller: Caller,
  id: string,
): Promise<RunRecord | undefined> {
  const run = await runs.get(id);
  return run && isOwn(caller, run.owner?.token_id ?? null) ? run : undefined;
}

export interface SeenBlobs {
  readonly blobs: Pick<BlobStore, 'find' | 'read'>;
  readonly history: Pick<History, 'isBlobOf'>;
}

/** A program sees what its own calls and runs name: an id follows from the bytes, and anyone who has them has it. */
export async function seenBlob(
  { blobs, history }: SeenBlobs,
  caller: Caller,
  id: string,
  makeRoom: MakeRoom,
) {
  const own = ownToken(caller);
  if (own !== undefined && !(await history.isBlobOf(own, id))) return undefined;
  const found = await blobs.find(id, principalKey(caller));
  if (!found) return undefined;
  // A large one waits for its turn before it is in memory.
  await makeRoom(found.size);
  return blobs.read(id, principalKey(caller));
}

/** Does nothing to a call that has ended. */
export function cancelCall(
  { calls }: { readonly calls: Pick<CallService, 'cancel'> },
  caller: Caller,
  id: string,
) {
  const name = principalName(caller);
  return calls.cancel(id, `Cancelled by ${name}.`, actorOf(caller), name);
}
