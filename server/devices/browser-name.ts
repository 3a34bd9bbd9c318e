import { readUserAgent } from '#lib/format/read-user-agent';

/** `User-Agent` in a few words, such as `Chrome on Android`. Any program can send any of them. */
export function browserName(userAgent: string | undefined): string {
  const { browser, system } = readUserAgent(userAgent ?? '');
  if (browser !== undefined && system !== undefined) return `${browser} on ${system}`;
  return browser ?? system ?? 'unknown';
}
