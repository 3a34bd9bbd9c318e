/**
 * Opens an address in a window of its own, inside a click; whether the browser did. With `noopener`
 * it would not report that, so an empty window is opened, separated from this page, and sent there.
 */
export function openWindow(url: string): boolean {
  const opened = window.open('', '_blank');
  if (!opened) return false;
  opened.opener = null;
  opened.location.replace(url);
  return true;
}
