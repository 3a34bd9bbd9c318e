import { setTimeout as sleep } from 'node:timers/promises';
import { createHeldTool } from '../net/held-tool.ts';
import type { LibraryClient } from '../net/library-client.ts';
import { inRig, type Rig } from '../net/rig.ts';
import type { Scenario } from '../scenario.ts';
import { mustSucceed } from '../world/check-invariants.ts';
import { PATIENCE_MS, until } from '../world/until.ts';

/** A resume grace is 120 s; a client that comes back sooner finds its call waiting. */
const GRACE_MS = 120_000;
const LEFT_MS = 2_000;

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
        const seen = await Promise.all([
          ...times.flatMap((ms) => Array.from({ length: each }, (_, i) => leave(rig, ms, i))),
          ...Array.from({ length: each }, (_, index) => loseWelcome(rig, index)),
        ]);
        // Each client has answered a later call: what is open now stays open.
        const rest = await rig.rest({ withinMs: LEFT_MS });
        const back = seen.filter(({ awayMs }) => awayMs < GRACE_MS).map(({ id }) => id);
        const isDone = (id: string) => rest.records.get(id)?.status === 'SUCCEEDED';
        const late = seen.filter(({ awayMs }) => awayMs > GRACE_MS).map(({ id }) => id);
        for (const id of late) {
          const { status, error = null, late_result: kept = null } = rest.records.get(id) ?? {};
          if (error?.code === 'outcome_unknown' && error.executed === 'unknown' && kept !== null)
            continue;
          const is = `${status} ${JSON.stringify(error)}, late ${JSON.stringify(kept)}`;
          context.bad('I4', `${id} was away too long and is ${is}`);
        }
        mustSucceed(context.bad, rest.records, 'it was back within the grace', back);
        return {
          figures: { ...rest.figures, away: seen.length, away_too_long: late.length },
          summary: `${seen.length} × away for ${times.map((ms) => `${ms / 1000} s`).join(', ')}, ${each} times with a lost welcome: ${back.filter(isDone).length} of ${back.length} that were back in time succeeded, done once; ${late.length} that were not ended as unknown, their late results kept`,
        };
      },
      { lines: (times.length + 1) * each },
    );
  },
};

async function leave(rig: Rig, awayMs: number, index: number) {
  const name = `away-${awayMs}-${index}`;
  const line = rig.line();
  const random = () => (awayMs > 10_000 ? 0.015 : 0.003);
  const held = createHeldTool(rig.effects, name);
  const client = rig.client({ name, port: line.port, random, more: [held.definition] });
  await client.start();
  await rig.api.untilListed(held.name);
  const id = await rig.api.invoke(held.name, { timeout_ms: 200_000 });
  await until(() => rig.effects.has(id));
  line.refuse();
  line.end(index % 2 === 0 ? 'rst' : 'fin');
  held.end();
  await Promise.all([sleep(awayMs), hasAnswer(client, id)]);
  line.mend();
  await until(() => client.welcomes.length > 1);
  await worksAgain(rig, name);
  return { id, awayMs };
}

/**
 * It comes back, and its welcome is lost on the way, with the token that was in it: the record has
 * the new token, and the client comes once more with the old one.
 */
async function loseWelcome(rig: Rig, index: number) {
  const name = `unwelcome-${index}`;
  const line = rig.line();
  const { watcher } = rig;
  const held = createHeldTool(rig.effects, name);
  const client = rig.client({ name, port: line.port, more: [held.definition] });
  await client.start();
  await rig.api.untilListed(held.name);
  await until(() => watcher.now(name) !== undefined);
  const id = await rig.api.invoke(held.name, { timeout_ms: 200_000 });
  await until(() => rig.effects.has(id));
  line.refuse();
  line.end('rst');
  held.end();
  await hasAnswer(client, id);
  await until(() => watcher.now(name) === undefined);
  // The first that it says is its request for an upgrade, the second its hello.
  let said = 0;
  line.onUp = () => {
    said += 1;
    if (said === 2) line.hold(['down']);
  };
  line.mend();
  await until(() => watcher.now(name) !== undefined);
  line.onUp = () => {};
  line.end('rst');
  line.mend();
  await until(() => client.welcomes.length > 1);
  await worksAgain(rig, name);
  return { id, awayMs: 0 };
}

const hasAnswer = (client: LibraryClient, id: string): Promise<boolean> =>
  until(async () => (await client.journal.entries()).some((one) => one.id === id && one.answer));

/** A later call, at its end: by then the server has taken what the client came back with. */
async function worksAgain({ api }: Rig, name: string): Promise<void> {
  await api.untilListed(`effect_${name}`);
  await api.invoke(`effect_${name}`, { wait_ms: 30_000, timeout_ms: PATIENCE_MS });
}
