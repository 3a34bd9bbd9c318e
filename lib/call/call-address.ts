const PREFIX = '#call=';

/** The call that an address points to, e.g. `/#call=tc_1`. Any page can link to any address. */
export function callOfHash(hash: string): string | null {
  try {
    return hash.startsWith(PREFIX) ? decodeURIComponent(hash.slice(PREFIX.length)) : null;
  } catch {
    // A percent sign that encodes nothing: no call has such an id.
    return null;
  }
}

export const hashOfCall = (callId: string): string => `${PREFIX}${encodeURIComponent(callId)}`;

/** The address of a call on the board, from its origin on. */
export const pathOfCall = (callId: string): string => `/${hashOfCall(callId)}`;
