import type { Principal } from './principal.ts';
import type { Sessions } from './sessions.ts';

/**
 * Calls `onEnd` when the sign-in of a caller ends, and counts as its use until the undo is
 * called. A token is no sign-in: there is nothing to follow.
 */
export function followSession(
  sessions: Pick<Sessions, 'onEnd' | 'hold'>,
  principal: Principal,
  onEnd: () => void,
): () => void {
  const sessionId = principal.kind === 'operator' ? principal.sessionId : null;
  if (sessionId === null) return () => {};
  const stopListening = sessions.onEnd((ended) => {
    if (ended === sessionId) onEnd();
  });
  const release = sessions.hold(sessionId);
  return () => {
    stopListening();
    release();
  };
}
