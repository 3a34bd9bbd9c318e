import type { JournalEntry } from '../../../lib/client/journal.ts';
import { createHeldTool } from '../net/held-tool.ts';
import { inRig, type Rig } from '../net/rig.ts';
import type { Scenario } from '../scenario.ts';
import { mustSucceed } from '../world/check-invariants.ts';
import { until } from '../world/until.ts';

/** Events are waited for that long, on any machine. */
const DELIVERED_MS = 30_000;

/**
 * A client comes back with answers that nobody can take between answers that
 * are waited for. The bad ones are refused for good and forgotten; the good
 * ones behind them arrive, over the same connection.
 */
export const poisonOutbox: Scenario = {
  id: 'F15',
  name: 'an outbox with answers that the server refuses',
  run(context) {
    const rounds = context.rounds({ full: 50, short: 4 });
    return inRig(
      context,
      async (rig) => {
        const ids: string[] = [];
        let slowest = 0;
        for (let round = 0; round < rounds && context.violations.length === 0; round += 1) {
          const seen = await poison(rig, `poison-${round}`);
          ids.push(...seen.ids);
          slowest = Math.round(Math.max(slowest, seen.ms));
        }
        const { figures, records } = await rig.rest();
        mustSucceed(context.bad, records, 'bad answers before it must not hold it up', ids);
        return {
          figures: { ...figures, outboxes: rounds, delivered_ms_max: slowest },
          summary: `${rounds} outboxes with refused answers among good ones: ${figures.succeeded} of ${ids.length} good ones delivered, each outbox empty after at most ${slowest} ms, 0 reconnects`,
        };
      },
      { lines: rounds },
    );
  },
};

async function poison(rig: Rig, name: string) {
  const line = rig.line();
  const held = createHeldTool(rig.effects, name);
  const first = rig.client({ name, port: line.port, more: [held.definition] });
  await first.start();
  await rig.api.untilListed(held.name);
  const invoke = () => rig.api.invoke(held.name, { timeout_ms: 120_000 });
  const ids = [await invoke(), await invoke(), await invoke()];
  await until(() => ids.every((id) => rig.effects.has(id)), DELIVERED_MS);
  line.refuse();
  line.end('rst');
  held.end();
  const answered = async () => (await first.journal.entries()).filter((one) => one.answer);
  await until(async () => (await answered()).length === ids.length, DELIVERED_MS);
  const good = await answered();
  await first.stop();

  const { identity, journal } = first;
  for (const entry of good) await journal.delete(entry.id);
  const bad = badAnswers(name);
  const mixed = [bad[0], good[0], bad[1], bad[2], good[1], bad[3], bad[4], good[2], bad[5]];
  for (const entry of mixed) if (entry) await journal.put(entry);
  const second = rig.client({ name, identity, journal, more: [held.definition] });
  const startedAt = performance.now();
  await second.start();
  const isEmpty = await until(async () => (await journal.entries()).length === 0, DELIVERED_MS);
  const ms = performance.now() - startedAt;
  const left = (await journal.entries()).map(({ id }) => id);
  if (!isEmpty)
    rig.bad('I2', `${name}: after ${DELIVERED_MS} ms the outbox still has ${left.join(', ')}`);
  if (second.welcomes.length !== 1)
    rig.bad('I2', `${name}: the outbox took ${second.welcomes.length} connections`);
  await second.stop();
  return { ids, ms };
}

function badAnswers(name: string): JournalEntry[] {
  const entry = (index: number, answer: object): JournalEntry => {
    const id = `tc_${name}_${index}`;
    const head = { type: 'tool_result' as const, id, success: true as const, attempt: 1 };
    const whole = { ...head, output: null, ...answer };
    return { id, attempt: 1, tool: `effect_${name}`, repeatable: false, answer: whole };
  };
  let deep: unknown = 1;
  for (let depth = 0; depth < 80; depth += 1) deep = [deep];
  return [
    entry(0, { output: 'of a call that nobody knows' }),
    entry(1, { output: deep }),
    entry(2, { output: 'x'.repeat(9 * 1024 * 1024) }),
    entry(3, { output: 1, attachments: [{ media_type: 'image/png', data: '%%%' }] }),
    entry(4, {
      output: 1,
      attachments: Array.from({ length: 9 }, () => ({ media_type: 'a', data: '' })),
    }),
    entry(5, { output: Array.from({ length: 200_001 }, () => 1) }),
  ];
}
