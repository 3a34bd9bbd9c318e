import type { Guard } from './guard.ts';

/** Of who reaches the server, from where and by what. */
export const NETWORK_GUARDS: readonly Guard[] = [
  {
    number: 'T02',
    file: 'server/auth/host-gate.ts',
    code: 'return parsed !== null && parsed.origin === origin && origins.has(origin);',
    broken:
      'return parsed !== null && [...origins].some((one) => origin.startsWith(one) || one.startsWith(parsed.origin));',
  },
  {
    number: 'T05',
    file: 'server/auth/credentials.ts',
    code: "  if (at !== 'socket' && isSafe && !isForeignFetch(headers)) return undefined;",
    broken: '  if (isSafe && !isForeignFetch(headers)) return undefined;',
  },
  {
    number: 'T06',
    file: 'server/auth/host-gate.ts',
    code: 'host !== undefined && by(isSecure).hosts.has(host.toLowerCase())',
    broken:
      'host !== undefined && [...by(isSecure).hosts].some((one) => host.toLowerCase().includes(one))',
  },
  {
    number: 'T07',
    file: 'server/network.ts',
    code: 'if (isPlain && !isBehindProxy && !args.insecurePlaintextLan) {',
    broken: 'if (isPlain && !isBehindProxy && args.lan) {',
  },
  {
    number: 'T13',
    file: 'server/http/page-headers.ts',
    code: '    "frame-ancestors \'none\'",\n',
    broken: '',
  },
  {
    number: 'T16',
    file: 'server/network.ts',
    code: "if (config.development && (isOpen || tls.kind !== 'none')) {",
    broken: 'if (config.development && args.lan && !isOpen) {',
  },
  {
    number: 'T27',
    file: 'server/auth/peer.ts',
    code: 'if (!isTrusted(peer)) return { address: peer, isSecure: isEncrypted || isPublic };',
    broken: 'if (peer.length === 0) return { address: peer, isSecure: isEncrypted || isPublic };',
  },
  {
    number: 'T30',
    file: 'server/tls/accept-tls.ts',
    code: '      if (all.size > most) oldest?.destroy();',
    broken: '      if (all.size < 0) oldest?.destroy();',
  },
  {
    number: 'T31',
    file: 'server/tls/accept-tls.ts',
    code: '    handshakeTimeout: handshakeMs,\n',
    broken: '',
  },
  {
    number: 'T32',
    file: 'lib/client/insecure-transport.ts',
    code: 'if (allow === true || !/^(?:ws|http):$/.test(protocol) || isLoopback(hostname)) return;',
    broken:
      'if (allow !== false || !/^(?:ws|http):$/.test(protocol) || isLoopback(hostname)) return;',
  },
  {
    number: 'T32',
    file: 'server/http/plain-gate.ts',
    code: '      if (!isRefused(incoming)) return undefined;',
    broken: '      if (!isRefused(incoming) || deps.hasTls) return undefined;',
  },
  {
    number: 'T137',
    file: 'server/http/page-server.ts',
    code: '    cleanHeaders(incoming.headers);\n',
    broken: '',
  },
  {
    number: 'T139',
    file: 'server/http/page-server.ts',
    code: "headers['next-action'] !== undefined || ",
    broken: '',
  },
  {
    number: 'T141',
    file: 'server/http/page-server.ts',
    code: '  if (internal && !development) return notFound();\n',
    broken: '',
  },
];
