import type { Scenario } from '../scenario.ts';
import { mustSucceed } from '../world/check-invariants.ts';
import { readClientFacts } from '../world/client-facts.ts';
import { inNetworkWorld } from '../world/network-world.ts';
import type { WorldOptions } from '../world/world.ts';

/** Each message of a client, and to it, comes one to three times, shuffled in a window of eight. */
export const mixedMessages: Scenario = {
  id: 'F16',
  name: 'messages that come more than once, and in another order',
  run(context) {
    const { random } = context;
    const calls = context.rounds({ full: 2_000, short: 200 });
    const options: WorldOptions = {
      timeoutMs: 120_000,
      clientConfig: (config) => ({ ...config, unruly: `${random.between(0, 1e9)}` }),
    };
    return inNetworkWorld(context, options, async ({ world, clients }) => {
      world.startLoad();
      for (let left = calls; left > 0; left -= 50) {
        await world.untilAccepted(Math.min(left, 50));
        // Some come over a new connection, under the next attempt.
        if (random.chance(0.3)) random.pick(clients).line.end(random.pick(['rst', 'fin']));
      }
      const { figures, records } = await world.rest();
      const duplicates = clients
        .flatMap(({ process }) => readClientFacts(process.config).acknowledged)
        .filter(({ disposition }) => disposition === 'duplicate').length;
      if (duplicates === 0) context.bad('HEALTH', 'nothing came twice');
      mustSucceed(context.bad, records, 'nothing was lost');
      return {
        figures: { ...figures, duplicates },
        summary: `each message 1 to 3 times, shuffled: ${figures.accepted} calls, ${figures.succeeded} succeeded, each effect done once; ${duplicates} answers acknowledged as duplicates`,
      };
    });
  },
};
