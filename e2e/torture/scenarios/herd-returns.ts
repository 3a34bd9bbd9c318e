import { setTimeout as sleep } from 'node:timers/promises';
import { STABLE_MS } from '../../../lib/net/backoff.ts';
import { inRig } from '../net/rig.ts';
import type { Scenario } from '../scenario.ts';
import { until } from '../world/until.ts';

const BACK_MS = 60_000;
/** A client may have begun a longer wait while there was no server; 30 s is the longest, and a machine under load is slow. */
const LONGEST_WAIT_MS = 120_000;
/** Their first tries are spread over a second; so many may fall into any tenth of it. */
const TOGETHER = { ms: 100, share: 0.5 };

/** The server ends and is started again; all of its clients come back, with the library's own waits. */
export const herdReturns: Scenario = {
  id: 'F26',
  name: '500 clients come back after a restart',
  run: (context) =>
    inRig(context, async (rig) => {
      const count = context.isShort ? 50 : 500;
      const rounds = context.rounds({ full: 3, short: 1 });
      const clients = Array.from({ length: count }, (_, index) =>
        rig.client({ name: `herd-${index}`, random: context.random.fork(`${index}`).next }),
      );
      await Promise.all(clients.map((client) => client.start()));
      const isBack = (times: number) => () =>
        clients.every(({ welcomes }) => welcomes.length >= times);
      if (!(await until(isBack(1)))) throw new Error('the herd did not connect at first');
      let [slowest, late, gone, together] = [0, 0, 0, 0];
      for (let round = 0; round < rounds; round += 1) {
        // Whoever loses it again sooner waits longer, as is right with a server that comes and goes.
        if (round > 0) await sleep(STABLE_MS + 500);
        const times = clients.map(({ welcomes }) => welcomes.length);
        const wentAt = performance.now();
        const code = await rig.board.stop(round % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
        if (round % 2 === 1 && code !== 0) context.bad('HEALTH', `SIGTERM ended it with ${code}`);
        await rig.startAgain();
        const servedAt = performance.now();
        gone = Math.max(gone, Math.round(servedAt - wentAt));
        const all = () => clients.every(({ welcomes }, i) => welcomes.length > (times[i] ?? 0));
        const attempts = clients.map((client) => client.attempt());
        await until(all, BACK_MS);
        const away = () => clients.filter(({ welcomes }, i) => welcomes.length <= (times[i] ?? 0));
        // It keeps to a wait that it had begun before; nobody may have tried and failed since.
        const failed = away().filter(
          (client) => client.attempt() !== attempts[clients.indexOf(client)],
        );
        late += away().length;
        if (failed.length > 0)
          context.bad(
            'HEALTH',
            `${failed.length} of ${count} tried and are not back after ${BACK_MS} ms`,
          );
        const areBack = await until(all, LONGEST_WAIT_MS - BACK_MS);
        slowest = Math.max(slowest, performance.now() - servedAt);
        context.say(
          `round ${round + 1}: all back ${Math.round(performance.now() - servedAt)} ms after it served`,
        );
        if (!areBack)
          context.bad(
            'HEALTH',
            `${away().length} of ${count} are not back after ${LONGEST_WAIT_MS} ms`,
          );
        const first = clients.flatMap(({ plans }) => plans.find((at) => at > wentAt) ?? []);
        together = Math.max(together, mostWithin(first, TOGETHER.ms));
        if (together > count * TOGETHER.share)
          context.bad(
            'HEALTH',
            `${together} of ${count} planned their next try within the same ${TOGETHER.ms} ms`,
          );
        const strangers = clients.filter(({ welcomes }) => !welcomes.at(-1)?.resumed);
        if (strangers.length > away().length)
          context.bad('I14', `${strangers.length} came back and were not resumed`);
      }
      const tools = await rig.api.tools('/api/tools');
      const listed = tools.filter((name) => name.startsWith('effect_herd-')).length;
      if (listed !== count)
        context.bad('I14', `the tools of ${listed} clients are listed; ${count} are there`);
      const rest = await rig.rest();
      return {
        figures: {
          ...rest.figures,
          clients: count,
          restarts: rounds,
          back_ms_max: Math.round(slowest),
          tools: listed,
          waited_longer: late,
          server_away_ms_max: gone,
          tried_together: together,
        },
        summary: `${rounds} × ${count} clients back after a restart: all resumed, at most ${together} tried within ${TOGETHER.ms} ms, the last was back ${Math.round(slowest)} ms after it served; ${late} of them were still in a wait of before after ${BACK_MS} ms`,
      };
    }),
};

/** The most of these times that lie in any span so long. */
function mostWithin(times: readonly number[], ms: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  const counts = sorted.map((from, index) => {
    const end = sorted.findIndex((at) => at > from + ms);
    return (end < 0 ? sorted.length : end) - index;
  });
  return Math.max(0, ...counts);
}
