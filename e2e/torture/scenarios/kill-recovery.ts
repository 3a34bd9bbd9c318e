import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario } from '../scenario.ts';
import { inWorld } from '../world/world.ts';

/** Killed under load, then twice more while it takes up what was open. */
export const killRecovery: Scenario = {
  id: 'F04',
  name: 'kill -9 during recovery, twice in a row',
  run: (context) =>
    inWorld(context, { timeoutMs: 8_000, troubles: true }, async (world) => {
      const { random } = context;
      const rounds = context.rounds({ full: 50, short: 2 });
      let early = 0;
      world.startClients();
      world.startLoad();
      for (let round = 0; round < rounds; round += 1) {
        const ms = (await world.startServer()) ?? 1_000;
        await world.untilAccepted(random.between(5, 20));
        if (random.chance(0.3)) void world.startRun();
        await sleep(random.between(10, 80));
        await world.server.end('SIGKILL');
        for (let again = 0; again < 2; again += 1) {
          const ready = world.startServer();
          await Promise.race([ready, sleep(random.between(ms * 0.3, ms))]);
          await world.server.end('SIGKILL');
          if ((await ready) === undefined) early += 1;
        }
      }
      await world.startServer();
      const { figures } = await world.rest();
      return {
        figures: { ...figures, kills: rounds * 3, before_ready: early },
        summary: `${rounds} × three kills in a row, ${early} of them before it was ready: ${figures.accepted} accepted, ${context.violations.length} violations; ${figures.outcome_unknown} outcome unknown`,
      };
    }),
};
