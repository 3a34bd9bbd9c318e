import { HttpError } from '#lib/protocol/http-error';
import { hasRole, type Role } from '#lib/protocol/role';
import type { Caller } from '../auth/principal.ts';

/** Who may use a route or a socket: people from this role on, and programs of these kinds. */
export interface Allowed {
  readonly role: Role;
  readonly also: readonly Exclude<Caller['kind'], 'operator'>[];
}

/** E.g. `operators with the role "operator" or above, agents`. */
export function allowedText({ role, also }: Allowed): string {
  const above = role === 'admin' ? '' : ' or above';
  return [`operators with the role "${role}"${above}`, ...also.map((kind) => `${kind}s`)].join(
    ', ',
  );
}

/** Why the caller may not, or undefined when it may. */
export function refuseCaller(allowed: Allowed, caller: Caller): HttpError | undefined {
  const { kind } = caller;
  const may =
    kind === 'operator' ? hasRole(caller.role, allowed.role) : allowed.also.includes(kind);
  if (may) return undefined;
  const words = kind === 'operator' ? `with the role "${caller.role}"` : `of the kind "${kind}"`;
  return new HttpError(
    'permission_denied',
    `A token ${words} may not do this; it is for ${allowedText(allowed)}.`,
  );
}
