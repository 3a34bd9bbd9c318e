/** The push services of browsers; `*.` stands for one label or more. */
const KNOWN_HOSTS = [
  'fcm.googleapis.com',
  'updates.push.services.mozilla.com',
  '*.push.services.mozilla.com',
  '*.notify.windows.com',
  'web.push.apple.com',
  '*.push.apple.com',
] as const;

export type EndpointProblem = 'not_https' | 'not_plain' | 'unknown_host';

export type PushHosts = ReturnType<typeof createPushHosts>;

/**
 * An endpoint comes from a browser, and the server sends requests to it: it must name a push
 * service that is known, by https, at its own port. So no address inside a network is reached.
 */
export function createPushHosts(more: readonly string[] = []) {
  const list: readonly string[] = [...new Set([...KNOWN_HOSTS, ...more])];
  const exact = new Set(list.filter((host) => !host.startsWith('*.')));
  const suffixes = list.filter((host) => host.startsWith('*.')).map((host) => host.slice(1));
  const isKnown = (host: string) =>
    exact.has(host) || suffixes.some((suffix) => host.endsWith(suffix) && host !== suffix);
  return {
    /** The hosts that are known, and those of the configuration. */
    list,
    /** Why nothing is sent there; undefined: it is a push service. */
    problemOf(endpoint: string): EndpointProblem | undefined {
      const url = URL.parse(endpoint);
      if (url?.protocol !== 'https:') return 'not_https';
      const { username, password, port, hash, hostname } = url;
      if (`${username}${password}${port}${hash}` !== '') return 'not_plain';
      return isKnown(hostname) ? undefined : 'unknown_host';
    },
  };
}
