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

/** Scrolls the live list to a call's card and focuses it; the address can then be shared. */
export function focusCall(callId: string): void {
  const hash = hashOfCall(callId);
  // Setting the same hash again fires no event.
  if (window.location.hash === hash) window.dispatchEvent(new HashChangeEvent('hashchange'));
  else window.location.hash = hash;
}
