import { readUserAgent } from '#lib/format/read-user-agent';

/** A name to begin with, e.g. `Chrome on Android`, or the model where the browser names it. */
export function deviceName(userAgent: string): string {
  const { browser = 'Browser', system } = readUserAgent(userAgent);
  // Browsers that hide the model write `K` in its place.
  const model = /Android [\d.]+; ([^;)]{2,40}?)(?: Build\/[^)]*)?\)/.exec(userAgent)?.[1];
  const where = model ?? system;
  return where === undefined ? browser : `${browser} on ${where}`;
}
