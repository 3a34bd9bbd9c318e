import type { Scenario } from '../scenario.ts';
import { mustSucceed } from '../world/check-invariants.ts';
import { inNetworkWorld } from '../world/network-world.ts';
import { PATIENCE_MS } from '../world/until.ts';

const BYTES = 4_096;
const STEP = 37;

/** A client's line ends in the middle of the frame that carries its result, at every byte in turn. */
export const cutResult: Scenario = {
  id: 'F10',
  name: 'the socket is cut within the frame of a result',
  run: (context) =>
    inNetworkWorld(context, { clients: 1 }, async ({ world, clients: [client] }) => {
      const { api } = world;
      if (!client) throw new Error('a world of one client has none');
      const step = context.isShort ? Math.floor(BYTES / 8) + 3 : STEP;
      let [cuts, frame] = [0, BYTES];
      // The last cut is after the whole frame: the result came, and its acknowledgement cannot.
      for (let at = 0; at <= frame + step; at += step) {
        const how = context.random.pick(['rst', 'fin'] as const);
        // A client that returns sends its answers before its tools: its last call may have ended already.
        await api.untilListed('effect');
        const cut = client.line.cutFrame({ minBytes: BYTES, at, how });
        const id = await api.invoke('effect', { timeout_ms: PATIENCE_MS, args: { bytes: BYTES } });
        const end = () => api.end(id, PATIENCE_MS + 5_000);
        const reached = await Promise.race([cut, end()]);
        if (typeof reached !== 'number') throw new Error(`${id} ended before its result was cut`);
        [cuts, frame] = [cuts + 1, reached];
        await end();
        if (cuts % 20 === 0) context.say(`${at} of ${frame} bytes`);
      }
      const { figures, records } = await world.rest();
      mustSucceed(context.bad, records, 'the line was there again at once');
      return {
        figures: { ...figures, cuts, connections: client.line.opened },
        summary: `${cuts} cuts of a result of ${frame} bytes: ${figures.succeeded} delivered once`,
      };
    }),
};
