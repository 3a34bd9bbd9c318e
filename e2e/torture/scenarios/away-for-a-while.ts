import { setTimeout as sleep } from 'node:timers/promises';
import { inRig, mustSucceed, type Rig, until } from '../net/rig.ts';
import type { Scenario, Violation } from '../scenario.ts';

/** A resume grace is 120 s; a client that comes back sooner finds its call waiting. */
const GRACE_MS = 120_000;

/** The line is gone for a while under a granted call, which goes on running at the client. */
export const awayForAWhile: Scenario = {
  id: 'F14',
  name: 'clients away for 1.3 s to 121 s during a granted call',
  run(context) {
    const times = context.isShort ? [1_300, 3_000] : [1_300, 8_000, 119_000, 121_500];
    const each = context.rounds({ full: 20, short: 3 });
    return inRig(
      context,
      async (rig) => {
        const seen = await Promise.all(
          times.flatMap((ms) => Array.from({ length: each }, (_, i) => leave(rig, ms, i))),
        );
        // A call whose answer never comes would else be waited for until its clock runs out.
        const rest = await rig.rest(context.isShort ? { withinMs: 5_000 } : {});
        const back = seen.filter(({ awayMs }) => awayMs < GRACE_MS).map(({ id }) => id);
        const late = seen.filter(({ awayMs }) => awayMs > GRACE_MS).map(({ id }) => id);
        const violations: Violation[] = late.flatMap((id) => {
          const record = rest.records.get(id);
          const isRight =
            record?.error?.code === 'outcome_unknown' &&
            record.error.executed === 'unknown' &&
            record.late_result !== null;
          const detail = `${id} was away too long and is ${record?.status} ${JSON.stringify(record?.error)}, late ${JSON.stringify(record?.late_result)}`;
          return isRight ? [] : [{ invariant: 'I4' as const, detail }];
        });
        return {
          figures: { ...rest.figures, away: seen.length, away_too_long: late.length },
          violations: [
            ...rest.violations,
            ...violations,
            ...mustSucceed(rest, back, 'it was back within the grace'),
          ],
          summary: `${seen.length} × away for ${times.map((ms) => `${ms / 1000} s`).join(', ')}: ${rest.figures.succeeded} of ${back.length} that were back in time succeeded, done once; ${late.length} that were not ended as unknown, their late results kept`,
        };
      },
      { lines: times.length * each },
    );
  },
};

async function leave(rig: Rig, awayMs: number, index: number) {
  const name = `away-${awayMs}-${index}`;
  const line = rig.line();
  const random = () => (awayMs > 10_000 ? 0.015 : 0.003);
  const client = rig.client({ name, port: line.port, random });
  await client.start();
  await until(() => client.welcomes.length > 0, 10_000);
  await sleep(50);
  const id = await rig.invoke(`effect_${name}`, { ms: 800 }, { timeout_ms: 200_000 });
  // Its effect is done at half time: it is surely granted, and its answer comes while it is away.
  await until(() => rig.effects.has(id), 10_000, 5);
  line.refuse();
  line.end(index % 2 === 0 ? 'rst' : 'fin');
  await sleep(awayMs);
  line.mend();
  await until(() => client.welcomes.length > 1, 10_000);
  return { id, awayMs };
}
