import { inRig, until } from '../net/rig.ts';
import type { Scenario, Violation } from '../scenario.ts';

const BACK_MS = 15_000;

/** The server ends and is started again; all of its clients come back, with the library's own waits. */
export const herdReturns: Scenario = {
  id: 'F26',
  name: '500 clients come back after a restart',
  run: (context) =>
    inRig(context, async (rig) => {
      const count = context.isShort ? 60 : 500;
      const rounds = context.rounds({ full: 3, short: 1 });
      const violations: Violation[] = [];
      const clients = Array.from({ length: count }, (_, index) =>
        rig.client({ name: `herd-${index}`, random: Math.random }),
      );
      await Promise.all(clients.map((client) => client.start()));
      const isBack = (times: number) => () =>
        clients.every(({ welcomes }) => welcomes.length >= times);
      if (!(await until(isBack(1), 60_000))) throw new Error('the herd did not connect at first');
      let slowest = 0;
      for (let round = 0; round < rounds; round += 1) {
        const times = clients.map(({ welcomes }) => welcomes.length);
        const code = await rig.board.stop(round % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
        if (round % 2 === 1 && code !== 0)
          violations.push({ invariant: 'HEALTH', detail: `SIGTERM ended it with ${code}` });
        await rig.startAgain();
        const servedAt = performance.now();
        const all = () => clients.every(({ welcomes }, i) => welcomes.length > (times[i] ?? 0));
        const areBack = await until(all, BACK_MS);
        slowest = Math.max(slowest, performance.now() - servedAt);
        const away = clients.filter(({ welcomes }, i) => welcomes.length <= (times[i] ?? 0));
        if (!areBack)
          violations.push({
            invariant: 'HEALTH',
            detail: `${away.length} of ${count} are not back after ${BACK_MS} ms`,
          });
        const strangers = clients.filter(({ welcomes }) => !welcomes.at(-1)?.resumed);
        if (strangers.length > away.length)
          violations.push({
            invariant: 'I14',
            detail: `${strangers.length} came back and were not resumed`,
          });
      }
      const tools = await rig.api.ask('GET', '/api/tools');
      const listed = JSON.stringify(tools?.body).match(/"effect_herd-\d+"/g) ?? [];
      const rest = await rig.rest();
      return {
        figures: {
          ...rest.figures,
          clients: count,
          restarts: rounds,
          back_ms_max: Math.round(slowest),
          tools: new Set(listed).size,
        },
        violations: [...violations, ...rest.violations],
        summary: `${rounds} × ${count} clients back after a restart: all resumed at most ${Math.round(slowest)} ms after it served`,
      };
    }),
};
