import type { Random } from '../random.ts';

/** An upgrade request with something wrong in it, or cut off. */
export function badHandshake(head: string, random: Random): string {
  const lines = head.split('\r\n');
  const at = random.between(1, Math.max(1, lines.length - 3));
  const withHeader = (line: string) => head.replace('\r\n\r\n', `\r\n${line}\r\n\r\n`);
  const starts = ['GET //', 'GET ', 'POST /', 'GET http://x/', 'GET /%', 'GET /../'];
  const hosts = ['evil.example', '', '127.0.0.1', 'x'.repeat(3_000)];
  const bad = [
    () => head.replace('GET /', random.pick(starts)),
    () => head.replace('Version: 13', `Version: ${random.pick(['0', '', '99', 'x'])}`),
    () => head.replace(/Key: .*/, `Key: ${random.pick(['', 'short', 'x'.repeat(500)])}`),
    () => lines.filter((_, index) => index !== at).join('\r\n'),
    () => withHeader(`Sec-WebSocket-Protocol: ${'a, '.repeat(random.between(1, 900))}`),
    () => {
      const quotes = '"'.repeat(random.between(1, 9));
      return withHeader(`Sec-WebSocket-Extensions: permessage-deflate; x=${quotes}`);
    },
    () => head.replace(/Host: .*/, `Host: ${random.pick(hosts)}`),
    () => head.slice(0, random.between(1, head.length - 1)),
    () => `${random.bytes(20).toString('latin1')}\r\n\r\n`,
  ];
  return random.pick(bad)();
}
