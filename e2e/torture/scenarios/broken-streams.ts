import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../random.ts';
import type { Scenario } from '../scenario.ts';
import {
  createNetworkWorld,
  type LinedClient,
  notSucceeded,
  untakenOf,
  untilOffers,
} from '../world/network-world.ts';
import { beatMsOf, hurriedPatches } from './hurried-heartbeat.ts';

const FAULTS = ['rst', 'fin', 'hold'] as const;
const SIDES = [['up'], ['down'], ['up', 'down']] as const;
/** Everything lies in a line for so many heartbeats: a client finds it silent after two. */
const HELD_BEATS = 3;
/** A round takes half a minute: what is asked for in all of that does not fit in memory in the end. */
const CALLS_AHEAD = 200;
/** More than a client needs to be back. */
const LONG_MS = 120_000;

/** Clients for which no socket opens, by lines that break, at a server that is killed. */
export const brokenStreams: Scenario = {
  id: 'F11b',
  name: 'RST, FIN, black holes and kill -9 of the server, under clients by streams and requests',
  patches: hurriedPatches,
  async run(context) {
    const { build, random } = context;
    const beatMs = beatMsOf(context);
    const dir = await context.tempDir();
    const rounds = context.rounds({ full: 60, short: 2 });
    const { world, clients, watch, end } = await createNetworkWorld({
      ...{ build, dir, random, timeoutMs: LONG_MS, callsAhead: CALLS_AHEAD },
      clientConfig: (config) => ({ ...config, streams: true }),
    });
    let kills = 0;
    try {
      world.startLoad();
      for (let round = 0; round < rounds; round += 1) {
        await world.untilAccepted(random.between(8, 24));
        const broken = clients.map((client, index) =>
          breakLine(random.fork(`${round}/${index}`), client, FAULTS[(round + index) % 3], beatMs),
        );
        if (round % 2 === 1) {
          kills += 1;
          await sleep(random.between(0, 100));
          await world.server.kill();
          await world.startServer();
        }
        await Promise.all(broken);
        for (const { name } of clients) await untilOffers(watch, name);
        context.say(`${round + 1} of ${rounds}`);
      }
      const { figures, violations: found, records } = await world.rest();
      // A tool that runs inside the server ends with it, one way or the other.
      const ofClients = [...records.values()].filter(({ source }) => source === 'client');
      const untaken = untakenOf(ofClients, HELD_BEATS * beatMs);
      const taken = ofClients.filter((record) => !untaken.includes(record));
      const lost = notSucceeded(taken, 'its client came back in time');
      const violations = [...found, ...lost];
      const breaks = rounds * clients.length;
      return {
        figures: { ...figures, broken: breaks, server_kills: kills, never_taken: untaken.length },
        violations,
        summary: `${breaks} broken lines (RST, FIN, black hole) of clients by streams, ${kills} × kill -9 of the server: ${figures.accepted} calls, ${figures.acknowledged} answers acknowledged, ${untaken.length} taken by no client while lines were held, ${violations.length} violations; ${figures.outcome_unknown} outcome unknown`,
      };
    } finally {
      await end();
    }
  },
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
