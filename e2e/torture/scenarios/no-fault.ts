import type { Scenario } from '../scenario.ts';
import { createWorld } from '../world/world.ts';

/** The control: the same harness with nothing broken. Everything has to succeed, done once. */
export const noFault: Scenario = {
  id: 'F00',
  name: 'nothing is broken (control)',
  async run(context) {
    const { build, random } = context;
    const dir = await context.tempDir();
    const world = await createWorld({ build, dir, random, timeoutMs: 60_000 });
    try {
      await world.startServer();
      for (const client of world.clients) world.startClient(client);
      world.startLoad();
      await world.startRun();
      await world.untilAccepted(context.rounds({ full: 2_000, short: 300 }));
      const { figures, violations, records } = await world.rest();
      const others = [...records.values()].filter(({ status }) => status !== 'SUCCEEDED');
      return {
        figures,
        violations: [
          ...violations,
          ...others.map(({ tool_call_id, status, error }) => ({
            invariant: 'HEALTH' as const,
            detail: `${tool_call_id} ended ${status} with no fault: ${JSON.stringify(error)}`,
          })),
        ],
        summary: `${figures.accepted} accepted, ${figures.succeeded} succeeded, ${figures.effects} effects done once each`,
      };
    } finally {
      await world.end();
    }
  },
};
