import { type Guard, guard } from './guard.ts';

/** Guards of who reaches the server, from where and by what. */
export const NETWORK_GUARDS: readonly Guard[] = [
  guard('T01', 'server/auth/host-gate.ts', {
    'return parsed !== null && parsed.origin === origin && origins.has(origin);':
      'return parsed !== null;',
  }),
  guard('T02', 'server/auth/host-gate.ts', {
    'return parsed !== null && parsed.origin === origin && origins.has(origin);':
      'return parsed !== null && [...origins].some((one) => origin.startsWith(one) || one.startsWith(parsed.origin));',
  }),
  guard('T03', 'server/auth/host-gate.ts', {
    'return parsed !== null && parsed.origin === origin && origins.has(origin);':
      'return parsed === null || (parsed.origin === origin && origins.has(origin));',
  }),
  guard('T04', 'server/auth/credentials.ts', { '      if (foreign) return foreign;\n': '' }),
  guard('T05', 'server/auth/credentials.ts', {
    "  if (at !== 'socket' && isSafe && !isForeignFetch(headers)) return undefined;":
      '  if (isSafe && !isForeignFetch(headers)) return undefined;',
  }),
  guard('T06', 'server/auth/host-gate.ts', {
    "hosts.has(asked) || names.has(asked.replace(PORT, ''))":
      '[...names].some((one) => asked.includes(one))',
  }),
  guard('T07', 'server/main/network.ts', {
    'if (isPlain && !isBehindProxy && !args.insecurePlaintextLan) {':
      'if (isPlain && !isBehindProxy && args.lan) {',
  }),
  guard('T08', 'server/http/create-route-runner.ts', {
    'if (principal instanceof HttpError) throw principal;':
      'if (principal instanceof HttpError) return ANONYMOUS;',
  }),
  guard('T09', 'server/auth/credentials.ts', { '      if (refusal) return refusal;\n': '' }),
  guard('T10', 'server/http/foreign-pages.ts', {
    'if (!OF_DEVICES.test(pathname) || !origins.isPaired(origin)) return false;':
      'if (!OF_DEVICES.test(pathname) && !origins.isPaired(origin)) return false;',
  }),
  guard('T11', 'server/http/page-headers.ts', {
    "`connect-src 'self' ${isSecure": '`connect-src * ${isSecure',
  }),
  guard('T12', 'server/http/upgrade-gate.ts', { 'isSent || !mayBeInUrl ?': 'isSent ?' }),
  guard('T13', 'server/http/page-headers.ts', { '    "frame-ancestors \'none\'",\n': '' }),
  guard('T14', 'server/auth/failed-attempts.ts', {
    'const retryAfter = buckets.take(source);':
      "const retryAfter = address.startsWith('10.') || address === '127.0.0.1' ? undefined : buckets.take(source);",
  }),
  guard('T15', 'server/http/create-api.ts', { '  access: EVERYONE,': "  access: 'public'," }),
  guard('T16', 'server/main/network.ts', {
    "if (config.development && (isOpen || tls.kind !== 'none')) {":
      'if (config.development && args.lan && !isOpen) {',
  }),
  guard('T27', 'server/auth/peer.ts', {
    'if (!isTrusted(peer)) return { address: peer, isSecure: isEncrypted || isPublic };':
      'if (peer.length === 0) return { address: peer, isSecure: isEncrypted || isPublic };',
  }),
  guard('T30', 'server/tls/accept-tls.ts', {
    '      if (all.size > most) oldest?.destroy();': '      if (all.size < 0) oldest?.destroy();',
  }),
  guard('T31', 'server/tls/accept-tls.ts', { '    handshakeTimeout: handshakeMs,\n': '' }),
  guard('T32', 'lib/client/insecure-transport.ts', {
    'if (allow === true || !/^(?:ws|http):$/.test(protocol) || isLoopback(hostname)) return;':
      'if (allow !== false || !/^(?:ws|http):$/.test(protocol) || isLoopback(hostname)) return;',
  }),
  guard('T32', 'server/http/plain-gate.ts', {
    '      if (!isRefused(incoming)) return undefined;':
      '      if (!isRefused(incoming) || deps.hasTls) return undefined;',
  }),
  guard('T137', 'server/http/page-server.ts', { '    cleanHeaders(incoming.headers);\n': '' }),
  guard('T138', 'server/http/page-server.ts', {
    'const SIGN_IN_PAGE = /^\\/sign-in(?:\\/[\\w-]+)?$/;':
      'const SIGN_IN_PAGE = /^\\/sign-in(?:\\/[\\w-]+)?|\\.rsc$/;',
  }),
  guard('T139', 'server/http/page-server.ts', { "headers['next-action'] !== undefined || ": '' }),
  guard('T140', 'server/http/route-table.ts', { "!url.startsWith('/') || ": '' }),
  guard('T141', 'server/http/page-server.ts', {
    '  if (internal && !development) return notFound();\n': '',
  }),
  guard('T143', 'package.json', { '"ws": "8.23.0"': '"ws": "8.20.0"' }),
  guard('T144', 'server/http/response.ts', { "  'cache-control': 'no-store',\n": '' }),
];
