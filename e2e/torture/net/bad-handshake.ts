import type { Random } from '../random.ts';

/** An upgrade request with something wrong in it, or cut off. */
export function badHandshake(head: string, random: Random): string {
  const lines = head.split('\r\n');
  const at = random.between(1, Math.max(1, lines.length - 3));
  const withHeader = (line: string) => head.replace('\r\n\r\n', `\r\n${line}\r\n\r\n`);
  switch (random.between(0, 8)) {
    case 0:
      return head.replace(
        'GET /',
        random.pick(['GET //', 'GET ', 'POST /', 'GET http://x/', 'GET /%', 'GET /../']),
      );
    case 1:
      return head.replace('Version: 13', `Version: ${random.pick(['0', '', '99', 'x'])}`);
    case 2:
      return head.replace(/Key: .*/, `Key: ${random.pick(['', 'short', 'x'.repeat(500)])}`);
    case 3:
      return lines.filter((_, index) => index !== at).join('\r\n');
    case 4:
      return withHeader(`Sec-WebSocket-Protocol: ${'a, '.repeat(random.between(1, 900))}`);
    case 5:
      return withHeader(
        `Sec-WebSocket-Extensions: permessage-deflate; x=${'"'.repeat(random.between(1, 9))}`,
      );
    case 6:
      return head.replace(
        /Host: .*/,
        `Host: ${random.pick(['evil.example', '', '127.0.0.1', 'x'.repeat(3_000)])}`,
      );
    case 7:
      return head.slice(0, random.between(1, head.length - 1));
    default:
      return `${random.bytes(20).toString('latin1')}\r\n\r\n`;
  }
}
