import type { WebSocket } from 'ws';

/** RFC 6455 leaves 123 bytes for a close reason; `ws` throws beyond that. */
const REASON_BYTES = 123;

export function closeSocket(socket: WebSocket, code: number, reason: string): void {
  socket.close(code, cutToBytes(reason, REASON_BYTES));
}

/** Cuts between characters, never inside one. */
export function cutToBytes(text: string, bytes: number): string {
  let size = 0;
  let cut = '';
  for (const character of text) {
    size += Buffer.byteLength(character);
    if (size > bytes) return cut;
    cut += character;
  }
  return text;
}
