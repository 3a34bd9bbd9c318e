import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inRig, type Rig } from '../net/rig.ts';
import type { Random } from '../random.ts';
import type { Scenario } from '../scenario.ts';
import { mustSucceed } from '../world/check-invariants.ts';
import { noHurry } from '../world/gate.ts';
import { PATIENCE_MS, until } from '../world/until.ts';

const STOP_MS = 5_000;
/** The clock of a call; the server is away for a part of it. */
const TIMEOUT_MS = 120_000;
const CALLERS = 8;

/** Asked to stop while it works: it ends in time, and whoever works goes on after the next start. */
export const gracefulStop: Scenario = {
  id: 'F32',
  name: 'a graceful stop under load',
  // How it stops is looked at by the short run, how fast by the long one, which has the machine for itself.
  patches: ({ isShort }) => (isShort ? [noHurry] : []),
  run: (context) =>
    inRig(context, async (rig) => {
      const { random } = context;
      const rounds = context.rounds({ full: 50, short: 3 });
      const bad = (detail: string) => context.bad('HEALTH', detail);
      const clients = [0, 1, 2].map((index) =>
        rig.client({ name: `work-${index}`, random: () => 0.02 }),
      );
      await Promise.all(clients.map((client) => client.start()));
      await until(() => clients.every(({ welcomes }) => welcomes.length > 0));
      let [isOver, refused, slowest] = [false, 0, 0];
      const caller = async (random: Random) => {
        while (!isOver) {
          const wait = random.chance(0.3) ? { wait_ms: 2_000 } : {};
          const asked = { args: { ms: random.between(0, 60) }, timeout_ms: TIMEOUT_MS, ...wait };
          await rig.api.invoke('effect', asked).catch(async () => {
            refused += 1;
            await sleep(20);
          });
          await sleep(random.between(0, 10));
        }
      };
      const callers = Array.from({ length: CALLERS }, (_, index) =>
        caller(random.fork(`${index}`)),
      );
      for (let round = 0; round < rounds; round += 1) {
        const waiting = await ask(rig);
        await sleep(random.between(250, 500));
        const times = clients.map(({ welcomes }) => welcomes.length);
        const startedAt = performance.now();
        const code = await rig.board.stop('SIGTERM');
        const ms = performance.now() - startedAt;
        slowest = Math.max(slowest, ms);
        if (code !== 0 || (ms > STOP_MS && !context.isShort))
          bad(`SIGTERM: exit ${code} after ${Math.round(ms)} ms: ${rig.board.log().slice(-600)}`);
        if ((await waiting.answer) === undefined)
          bad(`stop ${round + 1}: who waited for ${waiting.id} got no answer at all`);
        if (existsSync(join(rig.board.dataDir, 'callboard.db-wal')))
          bad(`stop ${round + 1}: exit ${code}, and the record was not closed: its log is left`);
        await rig.startAgain();
        const areBack = () => clients.every(({ welcomes }, i) => welcomes.length > (times[i] ?? 0));
        if (!(await until(areBack)))
          bad(`not all clients were back ${PATIENCE_MS} ms after start ${round + 1}`);
      }
      isOver = true;
      await Promise.all(callers);
      const { records, figures } = await rig.rest();
      // No client was ended: whatever was asked for can be done, and nothing is unknown.
      mustSucceed(context.bad, records, 'no client was ended');
      return {
        figures: { ...figures, stops: rounds, refused, stop_ms_max: Math.round(slowest) },
        summary: `${rounds} × SIGTERM under load: exit 0 after at most ${Math.round(slowest)} ms, ${figures.succeeded} of ${records.size} accepted calls succeeded, done once, 0 unknown`,
      };
    }),
};

/** Somebody who waits for a call that lasts. */
async function ask(rig: Rig) {
  // A client registers its tools after its welcome: for a moment it is back without them.
  await rig.api.untilListed('effect');
  const id = await rig.api.invoke('effect', { args: { ms: 3_000 }, timeout_ms: TIMEOUT_MS });
  return { id, answer: rig.api.ask('GET', `/v1/tool_calls/${id}?wait_ms=20000`) };
}
