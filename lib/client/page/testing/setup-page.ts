import { onTestFinished } from 'vitest';
import { randomId } from '../../../util/random-id.ts';
import { createMemoryIdentity } from '../../client-identity.ts';
import { createFixedInstanceId } from '../../instance-id.ts';
import { createMemoryJournal } from '../../journal.ts';
import { createNodeEnvironment } from '../../node/node-client.ts';
import { createScriptedServer } from '../../testing/scripted-server.ts';
import { createToolClient } from '../../tool-client.ts';
import type { BadgeCall } from '../badge.ts';
import { type ConnectOptions, createCallboard, type Page } from '../page-callboard.ts';
import { createScriptedPairing } from './scripted-pairing.ts';

export const TOKEN = 'a-token/of=the-operator';

const IMPORTED = {
  name: 'shop.example.buy',
  description: 'Buys',
  parameters: { type: 'object', properties: {} },
  execute: () => 'bought',
};

/** A page without a browser: its client and its sockets are real, its badge is a list. */
export async function setupPage() {
  const server = await createScriptedServer();
  const problems: string[] = [];
  const infos: string[] = [];
  const pairing = createScriptedPairing();
  const shown = new Set<BadgeCall>();
  /** `isReachable` is what a request would find, `asked` how often one was made. */
  const probes = { isReachable: true, asked: 0 };
  /** Another address that sockets are opened at. */
  const line: { cutTo?: string } = {};
  /** What the page has registered with its browser. */
  const webMcp = { isThere: true, ended: 0, tool: IMPORTED };
  // Without streams: what is tested here is what a page reports of its socket.
  const { byRequests: _, ...environment } = createNodeEnvironment({ WebSocket });
  const page: Page = {
    createClient: (options) =>
      createToolClient({
        ...options,
        kind: 'tab',
        environment: {
          ...environment,
          openSocket: (url, protocols) => environment.openSocket(line.cutTo ?? url, protocols),
          // Each attempt follows at once.
          random: () => 0,
        },
        identity: createMemoryIdentity(),
        instanceId: createFixedInstanceId(randomId),
        openJournal: async () => createMemoryJournal({ epoch: 'epoch' }),
      }),
    watch: () => () => {},
    createBadge: () => ({
      show(call) {
        shown.add(call);
        return () => shown.delete(call);
      },
    }),
    importWebMcp(offer) {
      if (!webMcp.isThere) return undefined;
      const back = offer(webMcp.tool);
      return () => {
        webMcp.ended += 1;
        back();
      };
    },
    title: 'Notice board',
    origin: 'https://shop.example',
    async isReachable() {
      probes.asked += 1;
      return probes.isReachable;
    },
    ...pairing.page,
    info: (text) => infos.push(text),
    warn: (problem) => problems.push(problem),
  };
  const callboard = createCallboard(() => page);
  const address = server.url.replace('ws', 'http');
  onTestFinished(async () => {
    pairing.end();
    await callboard.disconnect();
    await server.close();
  });
  return {
    ...{ server, callboard, problems, infos, pairing, shown, probes, line, address, webMcp },
    /** Up to the welcome. */
    async connect(options: ConnectOptions = {}) {
      callboard.connect({ server: address, token: TOKEN, ...options });
      const link = await server.accept();
      const hello = await link.welcome();
      return { link, hello };
    },
  };
}
