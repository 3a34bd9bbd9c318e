import { readUserAgent } from '#lib/format/read-user-agent';

/** A name by which a person tells this browser from others, e.g. `Mac · Chrome`. */
export function tabName({ userAgent }: { userAgent: string }): string {
  const { browser = 'Browser', system } = readUserAgent(userAgent);
  return [system, browser].filter(Boolean).join(' · ');
}
