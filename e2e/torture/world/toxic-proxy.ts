import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFrameScanner } from './frame-scanner.ts';

/** `up` is from the client to the server. */
export type Direction = 'up' | 'down';
export const BOTH: readonly Direction[] = ['up', 'down'];

export type Ending = 'rst' | 'fin';

/** A TCP line to a server on this machine that goes wrong in every way in which lines do. */
export interface ToxicProxy {
  /** In place of the server's own. */
  readonly port: number;
  /** Connections that were opened through it so far. */
  readonly opened: number;
  /** Ends what is open, towards the sides that these directions lead to; the other side is told nothing. */
  end(how: Ending, towards?: readonly Direction[]): void;
  /** Bytes lie in the line until it is mended, on new connections too. */
  hold(directions?: readonly Direction[]): void;
  /** New connections are reset, until it is mended. */
  refuse(): void;
  mend(): void;
  /** Every piece is at most so long, and takes so long. */
  slow(options: { readonly ms: number; readonly sliceBytes: number } | undefined): void;
  /**
   * Ends the connection when `at` bytes of the client's next frame of at least
   * `minBytes` have passed. Resolves with the whole frame's length.
   */
  cutFrame(options: { minBytes: number; at: number; how: Ending }): Promise<number>;
  /** Called before what a client says is passed on. */
  onUp: () => void;
  close(): Promise<void>;
}

interface Cut {
  readonly minBytes: number;
  readonly at: number;
  readonly how: Ending;
  done(bytes: number): void;
}

interface Line {
  readonly near: Socket;
  readonly far: Socket;
  readonly pumps: readonly { flush(): void }[];
}

/** `target` is asked at each connection: the server may be started later than its line. */
export async function openToxicProxy(target: () => number): Promise<ToxicProxy> {
  const lines = new Set<Line>();
  const held = new Set<Direction>();
  let isRefusing = false;
  let slowness: { ms: number; sliceBytes: number } | undefined;
  let cut: Cut | undefined;
  let opened = 0;

  const server = createServer({ allowHalfOpen: true }, (near) => {
    near.on('error', () => {});
    if (isRefusing) return void near.resetAndDestroy();
    opened += 1;
    const far = connect({ port: target(), host: '127.0.0.1', allowHalfOpen: true });
    far.on('error', () => {});
    const line: Line = { near, far, pumps: [pump('up', near, far), pump('down', far, near)] };
    lines.add(line);
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.once('close', () => forget(line));
    }
    far.once('error', () => near.resetAndDestroy());
    near.once('error', () => far.resetAndDestroy());
  });

  function forget(line: Line): void {
    if (line.near.destroyed && line.far.destroyed) lines.delete(line);
  }

  function pump(direction: Direction, from: Socket, to: Socket): { flush(): void } {
    const waiting: Buffer[] = [];
    const scanner = direction === 'up' ? createFrameScanner() : undefined;
    let [isBusy, hasEnded, isCut, passed] = [false, false, false, 0];
    /** The place in the stream where the connection is to end, for which cut, and of how long a frame. */
    let end: { offset: number; cut: Cut; bytes: number } | undefined;

    from.on('data', (chunk: Buffer) => {
      if (direction === 'up') proxy.onUp();
      for (const span of scanner?.feed(chunk) ?? []) {
        if (!cut || end || span.bytes < cut.minBytes) continue;
        end = { offset: span.start + Math.min(cut.at, span.bytes), cut, bytes: span.bytes };
        cut = undefined;
      }
      if (isCut) return;
      waiting.push(chunk);
      void flush();
    });
    from.once('end', () => {
      hasEnded = true;
      void flush();
    });

    async function flush(): Promise<void> {
      if (isBusy) return;
      isBusy = true;
      while (!held.has(direction) && !to.destroyed) {
        const next = waiting.shift();
        if (!next) break;
        const size = Math.min(next.length, slowness?.sliceBytes ?? next.length);
        if (size < next.length) waiting.unshift(next.subarray(size));
        if (slowness) await sleep(slowness.ms);
        pass(next.subarray(0, size));
      }
      isBusy = false;
      if (hasEnded && waiting.length === 0 && !held.has(direction)) to.end();
    }

    function pass(piece: Buffer): void {
      if (!end || passed + piece.length < end.offset) {
        passed += piece.length;
        to.write(piece);
        return;
      }
      const { cut: done, bytes } = end;
      const last = piece.subarray(0, Math.max(0, end.offset - passed));
      waiting.length = 0;
      isCut = true;
      finish(from, done.how);
      to.write(last, () => finish(to, done.how));
      done.done(bytes);
    }

    return { flush };
  }

  const proxy: ToxicProxy = {
    get port() {
      const address = server.address();
      if (address === null || typeof address === 'string') throw new Error('no port was given');
      return address.port;
    },
    get opened() {
      return opened;
    },
    end(how, towards = BOTH) {
      for (const { near, far } of lines) {
        for (const socket of [near, far]) socket.removeAllListeners('error').on('error', () => {});
        // The side that is not told: what it says from now on goes nowhere.
        if (towards.includes('down')) finish(near, how);
        if (towards.includes('up')) finish(far, how);
      }
    },
    hold(directions = BOTH) {
      for (const direction of directions) held.add(direction);
    },
    refuse() {
      isRefusing = true;
    },
    mend() {
      isRefusing = false;
      held.clear();
      for (const { pumps } of lines) for (const { flush } of pumps) flush();
    },
    slow(options) {
      slowness = options;
    },
    cutFrame: (options) =>
      new Promise((done) => {
        cut = { ...options, done };
      }),
    onUp: () => {},
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        for (const { near, far } of lines) for (const one of [near, far]) one.destroy();
      }),
  };
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return proxy;
}

function finish(socket: Socket, how: Ending): void {
  if (how === 'rst') socket.resetAndDestroy();
  else socket.end();
}
