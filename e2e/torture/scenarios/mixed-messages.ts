import type { Scenario, Violation } from '../scenario.ts';
import { readClientFacts } from '../world/client-facts.ts';
import { createNetworkWorld, notSucceeded } from '../world/network-world.ts';

/** Each message of a client, and to it, comes one to three times, shuffled in a window of eight. */
export const mixedMessages: Scenario = {
  id: 'F16',
  name: 'messages that come more than once, and in another order',
  async run(context) {
    const { build, random } = context;
    const dir = await context.tempDir();
    const calls = context.rounds({ full: 2_000, short: 200 });
    const { world, clients, end } = await createNetworkWorld({
      build,
      dir,
      random,
      timeoutMs: 120_000,
      clientConfig: (config) => ({ ...config, unruly: `${random.between(0, 1e9)}` }),
    });
    try {
      world.startLoad();
      for (let left = calls; left > 0; left -= 50) {
        await world.untilAccepted(Math.min(left, 50));
        // Some come over a new connection, under the next attempt.
        if (random.chance(0.3)) random.pick(clients).line.end(random.pick(['rst', 'fin']));
      }
      const { figures, violations, records } = await world.rest();
      const acknowledged = clients.flatMap(
        ({ process }) => readClientFacts(process.config).acknowledged,
      );
      const duplicates = acknowledged.filter(({ disposition }) => disposition === 'duplicate');
      const control: Violation[] =
        duplicates.length > 0 ? [] : [{ invariant: 'HEALTH', detail: 'nothing came twice' }];
      return {
        figures: { ...figures, duplicates: duplicates.length },
        violations: [
          ...violations,
          ...control,
          ...notSucceeded(records.values(), 'nothing was lost'),
        ],
        summary: `each message 1 to 3 times, shuffled: ${figures.accepted} calls, ${figures.succeeded} succeeded, each effect done once; ${duplicates.length} answers acknowledged as duplicates`,
      };
    } finally {
      await end();
    }
  },
};
