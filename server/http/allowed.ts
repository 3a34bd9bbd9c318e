import { HttpError } from '#lib/protocol/http-error';
import { hasRole, ROLES, type Role } from '#lib/protocol/role';
import type { Caller } from '../auth/room.ts';

/** People from this role on may use a route or a socket, and programs of these kinds. */
export interface Allowed {
  readonly role: Role;
  readonly also: readonly Exclude<Caller['kind'], 'operator'>[];
}

/** E.g. `people with the role operator or admin, and programs`. */
export function allowedText({ role, also }: Allowed): string {
  const roles = ROLES.filter((one) => hasRole(one, role)).join(' or ');
  const others = also.map((kind) => `${KINDS[kind]}s`).join(' and ');
  return `people with the role ${roles}${others === '' ? '' : `, and ${others}`}`;
}

const KINDS = { agent: 'program', device: 'device' } as const;

/** Why the caller may not, or undefined when it may. */
export function refuseCaller(allowed: Allowed, caller: Caller): HttpError | undefined {
  const { kind } = caller;
  const may =
    kind === 'operator' ? hasRole(caller.role, allowed.role) : allowed.also.includes(kind);
  if (may) return undefined;
  const words = kind === 'operator' ? `with the role "${caller.role}"` : `of a ${KINDS[kind]}`;
  return new HttpError(
    'permission_denied',
    `A token ${words} may not do this; it is for ${allowedText(allowed)}.`,
  );
}
