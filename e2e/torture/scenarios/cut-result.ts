import type { Scenario } from '../scenario.ts';
import { askCall, callEnd, untilOffered } from '../world/ask-call.ts';
import { createNetworkWorld, notSucceeded } from '../world/network-world.ts';

const BYTES = 4_096;
const TIMEOUT_MS = 60_000;
const STEP = 37;

/** A client's line ends in the middle of the frame that carries its result, at every byte in turn. */
export const cutResult: Scenario = {
  id: 'F10',
  name: 'the socket is cut within the frame of a result',
  async run(context) {
    const { build, random } = context;
    const dir = await context.tempDir();
    const { world, clients, end } = await createNetworkWorld({ build, dir, random, clients: 1 });
    try {
      const [client] = clients;
      if (!client) throw new Error('a world of one client has none');
      const step = context.isShort ? Math.floor(BYTES / 8) + 3 : STEP;
      let [cuts, frame] = [0, BYTES];
      // The last cut is after the whole frame: the result came, and its acknowledgement cannot.
      for (let at = 0; at <= frame + step; at += step) {
        const how = random.pick(['rst', 'fin'] as const);
        await untilOffered(world, 'effect');
        const cut = client.line.cutFrame({ minBytes: BYTES, at, how });
        const id = await askCall(world, 'effect', { timeoutMs: TIMEOUT_MS, bytes: BYTES });
        const reached = await Promise.race([cut, callEnd(world, id, TIMEOUT_MS + 5_000)]);
        if (typeof reached !== 'number') throw new Error(`${id} ended before its result was cut`);
        [cuts, frame] = [cuts + 1, reached];
        await callEnd(world, id, TIMEOUT_MS + 5_000);
        if (cuts % 20 === 0) context.say(`${at} of ${frame} bytes`);
      }
      const { figures, violations, records } = await world.rest();
      return {
        figures: { ...figures, cuts, connections: client.line.opened },
        violations: [
          ...violations,
          ...notSucceeded(records.values(), 'the line was there again at once'),
        ],
        summary: `${cuts} cuts of a result of ${frame} bytes: ${figures.succeeded} delivered once`,
      };
    } finally {
      await end();
    }
  },
};
