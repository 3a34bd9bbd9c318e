import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '#lib/protocol/limits';
import type { Random } from '../random.ts';
import type { Scenario, Violation } from '../scenario.ts';
import { askCall, callEnd } from '../world/ask-call.ts';
import { readEffects } from '../world/client-facts.ts';
import { createNetworkWorld, type LinedClient, type NetworkWorld } from '../world/network-world.ts';
import { until } from '../world/until.ts';
import { restingHeart } from './hurried-heartbeat.ts';

const CALLS = 5;
const TIMEOUT_MS = 5 * LIMITS.minTimeoutMs;
const STEP_MS = 60_000;

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
  async run(context) {
    const { build, random } = context;
    const dir = await context.tempDir();
    const clients = context.isShort ? 2 : 5;
    const rounds = context.rounds({ full: 8, short: 2 });
    const network = await createNetworkWorld({ build, dir, random, clients });
    try {
      const violations: Violation[] = [];
      let [ended, ran] = [0, 0];
      for (let round = 0; round < rounds; round += 1) {
        const ids = await Promise.all(
          network.clients.map((client, index) =>
            (index + round) % 2 === 0
              ? unseen(random.fork(`${round}/${index}`), network, client)
              : ungranted(random.fork(`${round}/${index}`), network, client),
          ),
        );
        const effects = readEffects(network.clients[0]?.process.config.effectFile ?? '');
        const late = ids.flat().filter((id) => effects.has(id));
        [ended, ran] = [ended + ids.flat().length, ran + late.length];
        for (const id of late) {
          const detail = `${id} had ended while its client was frozen, and was run when it woke`;
          violations.push({ invariant: 'I7', detail });
        }
      }
      const { figures, violations: found } = await network.world.rest();
      return {
        figures: { ...figures, calls_ended_while_frozen: ended, of_these_run: ran },
        violations: [...violations, ...found],
        summary: `${ended} calls ended while their program was frozen: ${ran} of them were run by it later`,
      };
    } finally {
      await network.end();
    }
  },
};

type Freeze = (random: Random, network: NetworkWorld, client: LinedClient) => Promise<string[]>;

const askAll = ({ world }: NetworkWorld, { id }: LinedClient): Promise<string[]> =>
  Promise.all(
    Array.from({ length: CALLS }, () =>
      askCall(world, 'effect', { timeoutMs: TIMEOUT_MS, client: id }),
    ),
  );

/** The requests lie unread; the calls are cancelled. */
const unseen: Freeze = async (random, network, client) => {
  client.process.signal('SIGSTOP');
  const ids = await askAll(network, client);
  await sleep(random.between(20, 200));
  for (const id of ids) await network.world.api.ask('POST', `/v1/tool_calls/${id}/cancel`);
  return wake(network, client, ids);
};

/** The claim has arrived; the grant lies in the line until its time is over. */
const ungranted: Freeze = async (random, network, client) => {
  const { line, process } = client;
  // The first that it says is its claim: from then on nothing comes down to it.
  line.onUp = () => line.hold(['down']);
  const id = await askCall(network.world, 'effect', { timeoutMs: TIMEOUT_MS, client: client.id });
  await untilGranted(network, id);
  process.signal('SIGSTOP');
  await callEnd(network.world, id, STEP_MS);
  await sleep(random.between(20, 200));
  line.onUp = () => {};
  line.mend();
  return wake(network, client, [id]);
};

async function untilGranted({ world }: NetworkWorld, id: string): Promise<void> {
  await until(`${id} is granted`, STEP_MS, async () => {
    const answer = await world.api.ask('GET', `/v1/tool_calls/${id}`);
    return (answer?.body as { phase?: string })?.phase !== 'offered';
  });
}

async function wake(network: NetworkWorld, client: LinedClient, ids: string[]): Promise<string[]> {
  await Promise.all(ids.map((id) => callEnd(network.world, id, STEP_MS)));
  client.process.signal('SIGCONT');
  // A client that answers a new call has handled all that came before it.
  const last = await askCall(network.world, 'effect', { timeoutMs: STEP_MS, client: client.id });
  const { status, error } = await callEnd(network.world, last, STEP_MS);
  if (status !== 'SUCCEEDED')
    throw new Error(`${client.name} did not wake up: ${JSON.stringify(error)}`);
  return ids;
}
