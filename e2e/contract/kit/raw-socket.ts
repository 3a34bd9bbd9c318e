import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Address } from '../../start-callboard.ts';

/** Longer than any answer takes; a connection that still hangs then is told as hanging. */
const HANGS_MS = 6_000;

export interface Frame {
  readonly opcode: number;
  readonly payload?: Buffer;
  readonly fin?: boolean;
  /** Three bits; 4 is RSV1. */
  readonly rsv?: number;
  readonly masked?: boolean;
  /** Written in place of the payload's own length, in 64 bits. */
  readonly claimedLength?: bigint;
}

/** A WebSocket frame as RFC 6455, section 5.2, draws it, or as nobody should. */
export function toFrame(frame: Frame): Buffer {
  const { opcode, payload = Buffer.alloc(0), fin = true, rsv = 0, masked = true } = frame;
  const first = (fin ? 0x80 : 0) | (rsv << 4) | opcode;
  const maskBit = masked ? 0x80 : 0;
  const head = Buffer.concat([Buffer.from([first]), lengthOf(frame, payload.length, maskBit)]);
  if (!masked) return Buffer.concat([head, payload]);
  const key = randomBytes(4);
  const body = Buffer.from(payload.map((byte, index) => byte ^ (key[index % 4] ?? 0)));
  return Buffer.concat([head, key, body]);
}

function lengthOf({ claimedLength }: Frame, length: number, maskBit: number): Buffer {
  if (claimedLength !== undefined || length > 0xffff) {
    const long = Buffer.alloc(9);
    long[0] = maskBit | 127;
    long.writeBigUInt64BE(claimedLength ?? BigInt(length), 1);
    return long;
  }
  if (length < 126) return Buffer.from([maskBit | length]);
  const medium = Buffer.alloc(3);
  medium[0] = maskBit | 126;
  medium.writeUInt16BE(length, 1);
  return medium;
}

export interface Ending {
  /** The code of the close frame; null when the connection ended without one. */
  readonly code: number | null;
  /** True when the connection ended at all. */
  readonly ended: boolean;
}

export interface RawSocket {
  readonly socket: Socket;
  write(...frames: readonly (Frame | Buffer)[]): void;
  /** Texts that came, taken out of their frames. */
  texts(): string[];
  /** The code of the close frame, as soon as there is one. */
  closeCode(): number | undefined;
  /** How it ended, or that it did not. Answers no close frame. */
  ending(): Promise<Ending>;
}

export const upgradeHead = (board: Address, path: string, headers: readonly string[] = []) =>
  [
    `GET ${path} HTTP/1.1`,
    `Host: ${new URL(board.url).host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    ...headers,
    '\r\n',
  ].join('\r\n');

/** A socket below every library: what is written goes out, byte by byte. */
export async function openRawSocket(
  board: Address,
  path: string,
  headers: readonly string[] = [`Authorization: Bearer ${board.token}`],
): Promise<RawSocket> {
  const { hostname, port } = new URL(board.url);
  const socket = connect(Number(port), hostname);
  let came: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    came = Buffer.concat([came, Buffer.from(chunk)]);
  });
  // A reset is one way to end; what matters is that it does.
  socket.on('error', () => {});
  const ended = new Promise<boolean>((resolve) => socket.once('close', () => resolve(true)));
  socket.write(upgradeHead(board, path, headers));
  const headEnd = () => came.indexOf('\r\n\r\n');
  while (headEnd() < 0) await new Promise((resolve) => socket.once('data', resolve));
  const status = came.subarray(0, 12).toString();
  if (!status.endsWith('101')) throw new Error(`The upgrade was refused: ${status}`);
  const frames = () => readFrames(came.subarray(headEnd() + 4));

  const closeCode = () => {
    const close = frames().find(({ opcode }) => opcode === 8);
    return close && (close.payload.length >= 2 ? close.payload.readUInt16BE(0) : 1005);
  };
  return {
    socket,
    write: (...all) =>
      void socket.write(
        Buffer.concat(all.map((one) => (Buffer.isBuffer(one) ? one : toFrame(one)))),
      ),
    texts: () =>
      frames()
        .filter(({ opcode }) => opcode === 1)
        .map(({ payload }) => payload.toString()),
    closeCode,
    async ending() {
      let giveUp: NodeJS.Timeout | undefined;
      const hangs = new Promise<boolean>((resolve) => {
        giveUp = setTimeout(() => resolve(false), HANGS_MS);
      });
      const hasEnded = await Promise.race([ended, hangs]);
      clearTimeout(giveUp);
      socket.destroy();
      return { code: closeCode() ?? null, ended: hasEnded };
    },
  };
}

/** Frames of a server are never masked. */
function readFrames(bytes: Buffer): { opcode: number; payload: Buffer }[] {
  const frames: { opcode: number; payload: Buffer }[] = [];
  let at = 0;
  while (at + 2 <= bytes.length) {
    const short = (bytes[at + 1] ?? 0) & 0x7f;
    const extra = short === 127 ? 8 : short === 126 ? 2 : 0;
    if (at + 2 + extra > bytes.length) break;
    const length =
      extra === 8
        ? Number(bytes.readBigUInt64BE(at + 2))
        : extra === 2
          ? bytes.readUInt16BE(at + 2)
          : short;
    const start = at + 2 + extra;
    if (start + length > bytes.length) break;
    frames.push({
      opcode: (bytes[at] ?? 0) & 0x0f,
      payload: bytes.subarray(start, start + length),
    });
    at = start + length;
  }
  return frames;
}

/** Bytes as they are on a connection of their own; what came back until the server hung up. */
export function sendRaw(board: Address, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(board.url);
  return new Promise((resolve) => {
    let came = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const giveUp = setTimeout(() => socket.destroy(), HANGS_MS);
    socket.on('data', (chunk) => {
      came += String(chunk);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(giveUp);
      resolve(came);
    });
  });
}
