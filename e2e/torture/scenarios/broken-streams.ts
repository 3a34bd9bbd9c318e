import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../random.ts';
import type { Scenario } from '../scenario.ts';
import { mustSucceed } from '../world/check-invariants.ts';
import { inNetworkWorld, type LinedClient, takenOf, untilOffers } from '../world/network-world.ts';
import type { WorldOptions } from '../world/world.ts';
import { FAULTS, SIDES } from './broken-lines.ts';
import { beatMsOf, hurriedPatches } from './hurried-heartbeat.ts';

/** Everything lies in a line for so many heartbeats: a client finds it silent after two. */
const HELD_BEATS = 3;
const OPTIONS: WorldOptions = {
  clientConfig: (config) => ({ ...config, streams: true }),
  /** A round takes half a minute: what is asked for in all of that does not fit in memory in the end. */
  callsAhead: 200,
  /** More than a client needs to be back. */
  timeoutMs: 120_000,
};

/** Clients for which no socket opens, by lines that break, at a server that is killed. */
export const brokenStreams: Scenario = {
  id: 'F11b',
  name: 'RST, FIN, black holes and kill -9 of the server, under clients by streams and requests',
  patches: hurriedPatches,
  run: (context) =>
    inNetworkWorld(context, OPTIONS, async ({ world, clients }) => {
      const { random } = context;
      const beatMs = beatMsOf(context);
      const rounds = context.rounds({ full: 60, short: 2 });
      let kills = 0;
      world.startLoad();
      for (let round = 0; round < rounds; round += 1) {
        await world.untilAccepted(random.between(8, 24));
        const broken = clients.map((client, index) =>
          breakLine(random.fork(`${round}/${index}`), client, FAULTS[(round + index) % 3], beatMs),
        );
        if (round % 2 === 1) {
          kills += 1;
          await sleep(random.between(0, 100));
          await world.server.end('SIGKILL');
          await world.startServer();
        }
        await Promise.all(broken);
        for (const { name } of clients) await untilOffers(world.watcher, name);
        context.say(`${round + 1} of ${rounds}`);
      }
      const { figures, records } = await world.rest();
      // A tool that runs inside the server ends with it, one way or the other.
      const ofClients = [...records].filter(([, { source }]) => source === 'client');
      const taken = takenOf(new Map(ofClients), HELD_BEATS * beatMs);
      mustSucceed(context.bad, records, 'its client came back in time', taken);
      const breaks = rounds * clients.length;
      const untaken = ofClients.length - taken.length;
      return {
        figures: { ...figures, broken: breaks, server_kills: kills, never_taken: untaken },
        summary: `${breaks} broken lines (RST, FIN, black hole) of clients by streams, ${kills} × kill -9 of the server: ${figures.accepted} calls, ${figures.acknowledged} answers acknowledged, ${untaken} taken by no client while lines were held, ${context.violations.length} violations; ${figures.outcome_unknown} outcome unknown`,
      };
    }),
};

/** Each on its own: the events, a request under way, and the response to it. */
async function breakLine(
  random: Random,
  { line }: LinedClient,
  fault: (typeof FAULTS)[number] = 'rst',
  beatMs: number,
): Promise<void> {
  await sleep(random.between(0, 60));
  const sides = random.pick(SIDES);
  if (fault !== 'hold') return line.end(fault, sides);
  line.hold(sides);
  await sleep(HELD_BEATS * beatMs);
  line.mend();
}
