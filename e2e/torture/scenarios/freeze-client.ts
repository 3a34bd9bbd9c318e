import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '#lib/protocol/limits';
import type { Random } from '../random.ts';
import type { Scenario } from '../scenario.ts';
import { readEffects } from '../world/client-facts.ts';
import { inNetworkWorld, type LinedClient } from '../world/network-world.ts';
import { must, PATIENCE_MS } from '../world/until.ts';
import type { World } from '../world/world.ts';
import { restingHeart } from './hurried-heartbeat.ts';

const CALLS = 5;
const TIMEOUT_MS = 5 * LIMITS.minTimeoutMs;

/**
 * As with a page (F13), without a browser: the process is stopped before it sees
 * its requests, or with its claims sent and the grants still on the line. What
 * has ended by the time it wakes must not run.
 */
export const freezeClient: Scenario = {
  id: 'F13b',
  name: 'a program stopped for longer than its calls may take, then continued',
  // A claim is known by being the first that a client says.
  patches: restingHeart,
  run(context) {
    const rounds = context.rounds({ full: 8, short: 2 });
    const options = { clients: context.isShort ? 2 : 5 };
    return inNetworkWorld(context, options, async ({ world, clients }) => {
      let [ended, ran] = [0, 0];
      for (let round = 0; round < rounds; round += 1) {
        const ids = await Promise.all(
          clients.map((client, index) => {
            const freeze = (index + round) % 2 === 0 ? unseen : ungranted;
            return freeze(context.random.fork(`${round}/${index}`), world, client);
          }),
        );
        const effects = readEffects(world.client.config.effectFile);
        const late = ids.flat().filter((id) => effects.has(id));
        [ended, ran] = [ended + ids.flat().length, ran + late.length];
        for (const id of late)
          context.bad(
            'I7',
            `${id} had ended while its client was frozen, and was run when it woke`,
          );
      }
      const { figures } = await world.rest();
      return {
        figures: { ...figures, calls_ended_while_frozen: ended, of_these_run: ran },
        summary: `${ended} calls ended while their program was frozen: ${ran} of them were run by it later`,
      };
    });
  },
};

type Freeze = (random: Random, world: World, client: LinedClient) => Promise<string[]>;

/** The requests lie unread; the calls are cancelled. */
const unseen: Freeze = async (random, world, client) => {
  const { api } = world;
  client.process.signal('SIGSTOP');
  const ask = () => api.invoke('effect', { timeout_ms: TIMEOUT_MS, client: client.id });
  const ids = await Promise.all(Array.from({ length: CALLS }, ask));
  await sleep(random.between(20, 200));
  for (const id of ids) await api.cancel(id);
  return wake(world, client, ids);
};

/** The claim has arrived; the grant lies in the line until its time is over. */
const ungranted: Freeze = async (random, world, client) => {
  const { api } = world;
  const { line, process } = client;
  // The first that it says is its claim: from then on nothing comes down to it.
  line.onUp = () => line.hold(['down']);
  const id = await api.invoke('effect', { timeout_ms: TIMEOUT_MS, client: client.id });
  await must(`${id} is granted`, async () => (await api.tryRead(id))?.phase !== 'offered');
  process.signal('SIGSTOP');
  await api.end(id, PATIENCE_MS);
  await sleep(random.between(20, 200));
  line.onUp = () => {};
  line.mend();
  return wake(world, client, [id]);
};

async function wake({ api }: World, client: LinedClient, ids: string[]): Promise<string[]> {
  await Promise.all(ids.map((id) => api.end(id, PATIENCE_MS)));
  client.process.signal('SIGCONT');
  // A client that answers a new call has handled all that came before it.
  const last = await api.invoke('effect', { timeout_ms: PATIENCE_MS, client: client.id });
  const { status, error } = await api.end(last, PATIENCE_MS);
  if (status !== 'SUCCEEDED')
    throw new Error(`${client.name} did not wake up: ${JSON.stringify(error)}`);
  return ids;
}
