import type { Scenario } from '../scenario.ts';
import { mustSucceed } from '../world/check-invariants.ts';
import { inWorld } from '../world/world.ts';

/** The control: the same harness with nothing broken. Everything has to succeed, done once. */
export const noFault: Scenario = {
  id: 'F00',
  name: 'nothing is broken (control)',
  run: (context) =>
    inWorld(context, { timeoutMs: 60_000 }, async (world) => {
      await world.startServer();
      world.startClients();
      world.startLoad();
      await world.startRun();
      await world.untilAccepted(context.rounds({ full: 2_000, short: 300 }));
      const { figures, records } = await world.rest();
      mustSucceed(context.bad, records, 'nothing was broken');
      return {
        figures,
        summary: `${figures.accepted} accepted, ${figures.succeeded} succeeded, ${figures.effects} effects done once each`,
      };
    }),
};
