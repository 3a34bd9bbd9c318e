export { type Audit, type AuditedAct, byCaller, openAudit } from './audit.ts';
export {
  asPerson,
  type Callers,
  type Credentials,
  createCallers,
  createCredentials,
  tooManyAttempts,
} from './credentials.ts';
export { createFailedAttempts, type FailedAttempts } from './failed-attempts.ts';
export { type Followed, followCaller } from './follow-caller.ts';
export { createHostGate, foreignFetch, type HostGate, isForeignFetch } from './host-gate.ts';
export { loadFingerprint, loadInstanceId } from './instance-id.ts';
export { keepText } from './keep-text.ts';
export { createTokenCheck, loadOperatorToken } from './operator-token.ts';
export { createIsAmong, createPeerOf, type Peer, type PeerOf, plainAddress } from './peer.ts';
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
export { hashSecret, keyedId, knownSecrets, newSecret } from './secrets.ts';
export { Sessions } from './sessions.ts';
export { createSignInCodes, type SignInCodes } from './sign-in-codes.ts';
export { Tokens } from './tokens.ts';
