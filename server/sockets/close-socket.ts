import { cutToBytes } from '#lib/json/cut-to-bytes';
import type { Line } from './line.ts';

/** RFC 6455 leaves 123 bytes for a close reason; `ws` throws beyond that. */
const REASON_BYTES = 123;

export function closeSocket(socket: Pick<Line, 'close'>, code: number, reason: string): void {
  socket.close(code, cutToBytes(reason, REASON_BYTES));
}
