import type { Call } from '#lib/call/call';
import { type Caller, FIRST_OPERATOR, type Principal, principalName } from '../auth/room.ts';

/** Finds callers of before by what their calls keep of them. */
export interface CallersOfCalls {
  /** Null is the token of the first run. Undefined once it is revoked. */
  callerOf(tokenId: string | null): Caller | undefined;
  /** The one whose live token has the name. */
  operatorNamed(name: string): Caller | undefined;
}

type MadeCall = Pick<Call, 'runId' | 'ownerToken' | 'requestedBy'>;

const FIRST_NAME = principalName(FIRST_OPERATOR);
const OPERATOR = 'operator:';
const DEVICE = 'device:';

/** Gives the one who made a call, in the way in which it was made. Undefined: that one's token was revoked. */
export function callerOfCall(
  callers: CallersOfCalls,
  { runId, ownerToken, requestedBy }: MadeCall,
): Principal | undefined {
  if (requestedBy === FIRST_NAME) return FIRST_OPERATOR;
  // A device may have no token.
  if (ownerToken === null && requestedBy.startsWith(DEVICE)) {
    return { kind: 'device', clientId: requestedBy.slice(DEVICE.length), tokenId: null };
  }
  const owner = callers.callerOf(ownerToken);
  if (owner === undefined) return undefined;
  if (requestedBy.startsWith('run:')) return { kind: 'run', runId, owner };
  if (principalName(owner) === requestedBy) return owner;
  // An operator may call in the run of another; an agent may not.
  return requestedBy.startsWith(OPERATOR)
    ? callers.operatorNamed(requestedBy.slice(OPERATOR.length))
    : undefined;
}
