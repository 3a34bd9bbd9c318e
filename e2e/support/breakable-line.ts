import { connect, createServer, type Socket } from 'node:net';

/** A TCP line to a server on this machine that a test can break and mend. */
export interface BreakableLine {
  /** In place of the server's own. */
  readonly port: number;
  /** Every connection is reset, and new ones are too. */
  cut(): void;
  /** Nothing passes in either direction, and nobody is told. */
  silence(): void;
  /** New connections pass again; old ones stay as they are. */
  mend(): void;
  close(): Promise<void>;
}

/** `target` is asked at each connection: the server may be started later than its line. */
export async function openBreakableLine(target: () => number): Promise<BreakableLine> {
  const open = new Set<Socket>();
  let state: 'whole' | 'cut' | 'silent' = 'whole';

  const server = createServer((near) => {
    keep(near);
    if (state === 'cut') return void near.resetAndDestroy();
    if (state === 'silent') return void near.pause();
    const far = connect(target(), '127.0.0.1');
    keep(far);
    near.pipe(far);
    far.pipe(near);
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
  });

  function keep(socket: Socket): void {
    open.add(socket);
    // Broken on purpose, or by the other side; its close says all there is to say.
    socket.on('error', () => {});
    socket.once('close', () => open.delete(socket));
  }

  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return {
    port: address.port,
    cut() {
      state = 'cut';
      for (const socket of open) socket.resetAndDestroy();
    },
    silence() {
      state = 'silent';
      for (const socket of open) {
        socket.unpipe();
        socket.pause();
      }
    },
    mend() {
      state = 'whole';
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        for (const socket of open) socket.destroy();
      }),
  };
}
