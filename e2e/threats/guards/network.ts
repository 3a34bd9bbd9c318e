import type { Guard } from './guard.ts';

/** Guards of who reaches the server, from where and by what. */
export const NETWORK_GUARDS: readonly Guard[] = [
  {
    number: 'T01',
    file: 'server/auth/host-gate.ts',
    code: 'return parsed !== null && parsed.origin === origin && origins.has(origin);',
    broken: 'return parsed !== null;',
  },
  {
    number: 'T02',
    file: 'server/auth/host-gate.ts',
    code: 'return parsed !== null && parsed.origin === origin && origins.has(origin);',
    broken:
      'return parsed !== null && [...origins].some((one) => origin.startsWith(one) || one.startsWith(parsed.origin));',
  },
  {
    number: 'T03',
    file: 'server/auth/host-gate.ts',
    code: 'return parsed !== null && parsed.origin === origin && origins.has(origin);',
    broken: 'return parsed === null || (parsed.origin === origin && origins.has(origin));',
  },
  {
    number: 'T04',
    file: 'server/auth/credentials.ts',
    code: '      if (foreign) return foreign;\n',
    broken: '',
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
    code: "hosts.has(asked) || names.has(asked.replace(PORT, ''))",
    broken: '[...names].some((one) => asked.includes(one))',
  },
  {
    number: 'T07',
    file: 'server/main/network.ts',
    code: 'if (isPlain && !isBehindProxy && !args.insecurePlaintextLan) {',
    broken: 'if (isPlain && !isBehindProxy && args.lan) {',
  },
  {
    number: 'T08',
    file: 'server/http/create-route-runner.ts',
    code: 'if (principal instanceof HttpError) throw principal;',
    broken: 'if (principal instanceof HttpError) return ANONYMOUS;',
  },
  {
    number: 'T09',
    file: 'server/auth/credentials.ts',
    code: '      if (refusal) return refusal;\n',
    broken: '',
  },
  {
    number: 'T10',
    file: 'server/http/foreign-pages.ts',
    code: 'if (!OF_DEVICES.test(pathname) || !origins.isPaired(origin)) return false;',
    broken: 'if (!OF_DEVICES.test(pathname) && !origins.isPaired(origin)) return false;',
  },
  {
    number: 'T11',
    file: 'server/http/page-headers.ts',
    code: "`connect-src 'self' ${isSecure",
    broken: '`connect-src * ${isSecure',
  },
  {
    number: 'T12',
    file: 'server/http/upgrade-gate.ts',
    code: 'isSent || !mayBeInUrl ?',
    broken: 'isSent ?',
  },
  {
    number: 'T13',
    file: 'server/http/page-headers.ts',
    code: '    "frame-ancestors \'none\'",\n',
    broken: '',
  },
  {
    number: 'T14',
    file: 'server/auth/failed-attempts.ts',
    code: 'const retryAfter = buckets.take(source);',
    broken:
      "const retryAfter = address.startsWith('10.') || address === '127.0.0.1' ? undefined : buckets.take(source);",
  },
  {
    number: 'T15',
    file: 'server/http/create-api.ts',
    code: '  access: EVERYONE,',
    broken: "  access: 'public',",
  },
  {
    number: 'T16',
    file: 'server/main/network.ts',
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
    number: 'T138',
    file: 'server/http/page-server.ts',
    code: 'const SIGN_IN_PAGE = /^\\/sign-in(?:\\/[\\w-]+)?$/;',
    broken: 'const SIGN_IN_PAGE = /^\\/sign-in(?:\\/[\\w-]+)?|\\.rsc$/;',
  },
  {
    number: 'T139',
    file: 'server/http/page-server.ts',
    code: "headers['next-action'] !== undefined || ",
    broken: '',
  },
  {
    number: 'T140',
    file: 'server/http/route-table.ts',
    code: "!url.startsWith('/') || ",
    broken: '',
  },
  {
    number: 'T141',
    file: 'server/http/page-server.ts',
    code: '  if (internal && !development) return notFound();\n',
    broken: '',
  },
  {
    number: 'T143',
    file: 'package.json',
    code: '"ws": "8.23.0"',
    broken: '"ws": "8.20.0"',
  },
  {
    number: 'T144',
    file: 'server/http/response.ts',
    code: "  'cache-control': 'no-store',\n",
    broken: '',
  },
];
