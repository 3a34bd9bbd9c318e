import type { Caller } from './principal.ts';
import type { Sessions } from './sessions.ts';
import type { Tokens } from './tokens.ts';

export interface Followed {
  readonly sessions: Pick<Sessions, 'onEnd' | 'hold'>;
  readonly tokens: Pick<Tokens, 'isLive' | 'onRevoked'>;
}

/**
 * Calls `onEnd` when the caller's sign-in ends, or its token is revoked; until the returned
 * function is called, which counts as use of a sign-in.
 */
export function followCaller(followed: Followed, caller: Caller, onEnd: () => void): () => void {
  const stops = [followToken(followed.tokens, caller.tokenId, onEnd)];
  if (caller.kind === 'operator' && caller.sessionId !== null) {
    stops.push(followSession(followed.sessions, caller.sessionId, onEnd));
  }
  return () => {
    for (const stop of stops) stop();
  };
}

function followSession(
  sessions: Followed['sessions'],
  sessionId: string,
  onEnd: () => void,
): () => void {
  const stopListening = sessions.onEnd((ended) => {
    if (ended === sessionId) onEnd();
  });
  const release = sessions.hold(sessionId);
  return () => {
    stopListening();
    release();
  };
}

/** The token of the first run is not revoked here. */
function followToken(
  tokens: Followed['tokens'],
  tokenId: string | null,
  onEnd: () => void,
): () => void {
  if (tokenId === null) return () => {};
  let isFollowed = true;
  const stop = tokens.onRevoked((revoked) => {
    if (revoked === tokenId) onEnd();
  });
  // It may have been revoked between the request and this.
  if (!tokens.isLive(tokenId)) queueMicrotask(() => isFollowed && onEnd());
  return () => {
    isFollowed = false;
    stop();
  };
}
