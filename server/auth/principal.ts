import type { Actor, Via } from '#lib/call/call-event';
import { hasRole, type Role } from '#lib/protocol/role';
import type { RunSummary } from '#lib/protocol/run';
import { RUN_TOOLS } from '#lib/protocol/run-tools';
import { allowsTool } from '#lib/protocol/token-names';
import { parseToolReference } from '#lib/protocol/tool-name';

/** A request adds this to the one who makes it. */
interface Asking {
  /** The peer's address; it is not there where no request is being answered. */
  readonly address?: string;
}

/** A person: by the first-run token, whose `tokenId` is null, by a named token, or signed in by either. */
export interface Operator extends Asking {
  readonly kind: 'operator';
  readonly name: string;
  readonly role: Role;
  readonly tokenId: string | null;
  readonly sessionId: string | null;
}

/** A program with a token of its own. `tools`: whole names, or `prefix.*`. */
export interface Agent extends Asking {
  readonly kind: 'agent';
  readonly name: string;
  readonly tokenId: string;
  readonly tools: readonly string[];
}

/** A paired client. */
export interface Device extends Asking {
  readonly kind: 'device';
  readonly clientId: string;
  readonly tokenId: string | null;
}

/** One who shows a credential. */
export type Caller = Operator | Agent | Device;

/** The built-in agent in a run: it acts for the caller who started the run, and never decides for a person. */
export interface RunPrincipal {
  readonly kind: 'run';
  readonly runId: string;
  readonly owner: Caller;
  /** Another person, who wrote what is being answered: it may do no more than that one may, either. */
  readonly askedBy?: Caller | undefined;
}

/** One who asks, by the server's own record alone; nothing that a client sends adds to it. */
export type Principal = Caller | RunPrincipal;

/** By the token of the first run, which is the administrator's and no row of the store. */
export const FIRST_OPERATOR: Operator = {
  kind: 'operator',
  name: 'operator',
  role: 'admin',
  tokenId: null,
  sessionId: null,
};

/** The caller of a public route, whose credential was not looked at. No service accepts it. */
export const ANONYMOUS = { kind: 'anonymous' } as const;
export type Anonymous = typeof ANONYMOUS;

/** For people, and in records: a name may be given again once its token was revoked. */
export function principalName(principal: Principal): string {
  switch (principal.kind) {
    case 'operator':
      return principal.tokenId === null ? 'operator' : `operator:${principal.name}`;
    case 'agent':
      return `agent:${principal.name}`;
    case 'device':
      return `device:${principal.clientId}`;
    case 'run':
      return `run:${principal.runId}`;
  }
}

/** Events of calls name so who caused them. */
export function actorOf(principal: Principal): Actor {
  const name = principalName(principal);
  const via = viaOf(principal);
  return via ? { name, via } : name;
}

/** By which token and from where a caller acts; undefined where no request or socket is served. */
export function viaOf(principal: Principal): Via | undefined {
  if (principal.kind === 'run' || principal.address === undefined) return undefined;
  const { tokenId, address } = principal;
  return { tokenId, address };
}

/** By which stored things belong to a principal; unlike a name, it is never given again. */
export const principalKey = (principal: Principal): string =>
  (principal.kind === 'operator' || principal.kind === 'agent' ? principal.tokenId : null) ??
  principalName(principal);

/** The caller whom `principal` is, or acts for. */
export const callerOf = (principal: Principal): Caller =>
  principal.kind === 'run' ? principal.owner : principal;

/** `principal` may decide what people decide: approve, answer by hand, give more time. */
export const mayDecide = (principal: Principal): boolean =>
  principal.kind === 'operator' && hasRole(principal.role, 'operator');

export const isAdmin = (caller: Caller): boolean =>
  caller.kind === 'operator' && hasRole(caller.role, 'admin');

/**
 * The token whose holder's runs, calls and blobs are all that the caller sees; undefined for
 * people, who see everything. One that no record has for a caller without a token.
 */
export const ownToken = (caller: Caller): string | undefined =>
  caller.kind === 'operator' ? undefined : (caller.tokenId ?? '');

/** The caller sees what belongs to this token; null is that of the first run. */
export const isOwn = (caller: Caller, ownerToken: string | null): boolean => {
  const own = ownToken(caller);
  return own === undefined || own === ownerToken;
};

/** The caller itself began the run: a person sees the runs of all. */
export const ownsRun = (caller: Caller, { owner }: Pick<RunSummary, 'owner'>): boolean =>
  (owner?.token_id ?? null) === caller.tokenId;

const VIEWERS_READ =
  'A viewer reads; calls are made by a person with the role "operator" or "admin".';

/**
 * Why `principal` may not call the tool, or undefined when it may. An agent's
 * allow-list has whole names, or `prefix.*` for a family; an entry never matches
 * by part of a word. A run may call what its owner may, and read its own results.
 */
export function refusalOf(principal: Principal, reference: string): string | undefined {
  const { name } = parseToolReference(reference);
  switch (principal.kind) {
    case 'run':
      // They give a run nothing that it may not have.
      if (RUN_TOOLS.has(name) && principal.owner.kind === 'agent') return undefined;
      return refusalOf(principal.owner, reference);
    case 'operator':
      return hasRole(principal.role, 'operator') ? undefined : VIEWERS_READ;
    case 'device':
      return 'A device answers calls; it cannot make calls.';
    case 'agent': {
      const allowed = principal.tools.some((entry) => allowsTool(entry, name));
      return allowed ? undefined : `The agent ${principal.name} may not call this tool.`;
    }
  }
}
