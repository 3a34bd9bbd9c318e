import { test as base } from '../../fixtures.ts';
import type { StartOptions } from '../../start-callboard.ts';
import { type Callboard, startCallboard } from '../../start-callboard.ts';
import type { SocketOptions } from './socket.ts';
import {
  type ClientOptions,
  connectClient,
  type ToolClient,
  type Transport,
} from './tool-client.ts';
import { connectWatcher, type Watcher, type WatchOptions } from './watcher.ts';

/** Opens sockets that are gone when the test ends. */
export interface Connect {
  client(board: Callboard, options?: ClientOptions): Promise<ToolClient>;
  /** Asks for `request` at once, when it is given. */
  watcher(
    board: Callboard,
    request?: WatchOptions | null,
    options?: SocketOptions,
  ): Promise<Watcher>;
}

export const test = base.extend<{ connect: Connect; transport: Transport }>({
  /** The transport of clients whose options name none. */
  transport: ['socket', { option: true }],
  // Playwright wants a pattern here, also where nothing is taken out of it.
  connect: async ({ startServer: _startServer, transport }, use) => {
    const open: (ToolClient | Watcher)[] = [];
    await use({
      async client(board, options) {
        const client = await connectClient(board, { transport, ...options });
        open.push(client);
        return client;
      },
      async watcher(board, request = {}, options = {}) {
        const watcher = await connectWatcher(board, options);
        open.push(watcher);
        if (request) watcher.watch(request);
        return watcher;
      },
    });
    await Promise.all(open.map((socket) => socket.vanish()));
  },
});

/** The same tests over sockets and over streams: each promise holds on both. */
export function overEachTransport(tests: () => void): void {
  for (const transport of ['socket', 'stream'] as const) {
    test.describe(`over a ${transport}`, () => {
      test.use({ transport });
      tests();
    });
  }
}

/** One server for all tests of a file, which then run one after another. Gives it to a running test. */
export function sharedCallboard(options: StartOptions = {}): () => Callboard {
  let board: Callboard | undefined;
  test.describe.configure({ mode: 'default' });
  test.beforeAll(async () => {
    board = await startCallboard(options);
  });
  test.afterAll(async () => {
    await board?.remove();
  });
  return () => {
    if (!board) throw new Error('The server is started before the first test, and not earlier');
    return board;
  };
}

export { expect } from '../../fixtures.ts';
