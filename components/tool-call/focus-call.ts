import { hashOfCall } from '#lib/call/call-address';

/** Scrolls the live list to a call's card and focuses it; the address can then be shared. */
export function focusCall(callId: string): void {
  const hash = hashOfCall(callId);
  // Setting the same hash again fires no event.
  if (window.location.hash === hash) window.dispatchEvent(new HashChangeEvent('hashchange'));
  else window.location.hash = hash;
}
