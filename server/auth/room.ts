export { type Audit, type AuditedAct, byCaller } from './audit.ts';
export { asPerson, type Callers, type Credentials, tooManyAttempts } from './credentials.ts';
export { createFailedAttempts, type FailedAttempts } from './failed-attempts.ts';
export { type Followed, followCaller } from './follow-caller.ts';
export { foreignFetch, type HostGate, isForeignFetch } from './host-gate.ts';
export { loadFingerprint } from './instance-id.ts';
export { keepText } from './keep-text.ts';
export { createAccess, openAuth, openOperator } from './open-auth.ts';
export {
  createIsAmong,
  createPeerOf,
  networkOf,
  type Peer,
  type PeerOf,
  plainAddress,
} from './peer.ts';
export {
  type Agent,
  ANONYMOUS,
  type Anonymous,
  actorOf,
  type Caller,
  callerOf,
  FIRST_OPERATOR,
  isAdmin,
  isOwn,
  mayDecide,
  type Operator,
  ownsRun,
  ownToken,
  type Principal,
  principalKey,
  principalName,
  refusalOf,
  viaOf,
} from './principal.ts';
export { hashSecret, keyedId, newSecret } from './secrets.ts';
export type { Sessions } from './sessions.ts';
export type { SignInCodes } from './sign-in-codes.ts';
export type { Tokens } from './tokens.ts';
