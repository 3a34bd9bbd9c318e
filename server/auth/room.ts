export { type Audit, type AuditedAct, byCaller } from './audit.ts';
export {
  asPerson,
  type Credentials,
  type Followed,
  followCaller,
  tooManyAttempts,
} from './credentials.ts';
export { createFailedAttempts, type FailedAttempts } from './failed-attempts.ts';
export { foreignFetch, type HostGate, isForeignFetch } from './host-gate.ts';
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
export { hashSecret, keepText, keyedId, loadFingerprint, newSecret } from './secrets.ts';
export type { Sessions, SignInCodes } from './sessions.ts';
export type { Tokens } from './tokens.ts';
