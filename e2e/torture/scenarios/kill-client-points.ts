import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scenario, Violation } from '../scenario.ts';
import {
  type BegunCall,
  beginCall,
  endsUnknown,
  untilEndOrRunAgain,
  works,
} from '../world/begun-call.ts';
import type { ClientProcess } from '../world/client-process.ts';
import { until } from '../world/until.ts';
import { createWorld, type World } from '../world/world.ts';

const PATIENCE_MS = 60_000;

interface Stage {
  readonly world: World;
  readonly client: ClientProcess;
  readonly dir: string;
}

/**
 * The only client dies while its tool stands in the middle of a call, with its journal and without;
 * and after the tool has ended, with an answer that it could not send. Each is there by order.
 */
export const killClientPoints: Scenario = {
  id: 'F05c',
  name: 'kill -9 of a client in mid-run, with and without its journal, and with an unsent answer',
  async run(context) {
    const dir = await context.tempDir();
    const { build, random } = context;
    const world = await createWorld({ build, dir, random, clients: 1 });
    const rounds = context.rounds({ full: 10, short: 1 });
    const violations: Violation[] = [];
    try {
      const [client] = world.clients;
      if (!client) throw new Error('a world of one client has none');
      await world.startServer();
      world.startClient(client);
      await works(world);
      for (let round = 0; round < rounds; round += 1) {
        for (const kill of KILLS) {
          violations.push(...(await kill({ world, client, dir })));
          await works(world);
        }
      }
      const { figures, violations: found } = await world.rest();
      const kills = rounds * KILLS.length;
      return {
        figures: { ...figures, client_kills: kills },
        violations: [...violations, ...found],
        summary: `${kills} × kill -9 of a client in mid-run, without its journal, with an unsent answer: ${figures.accepted} calls, ${figures.outcome_unknown} outcome unknown, each effect done once`,
      };
    } finally {
      await world.end();
    }
  },
};

const KILLS: readonly ((stage: Stage) => Promise<Violation[]>)[] = [
  async function inMidRun({ world, client, dir }) {
    const call = await beginCall(world, client, dir);
    await client.kill();
    world.startClient(client);
    return endsUnknown(world, call, 'was killed');
  },

  async function withoutItsJournal({ world, client, dir }) {
    const call = await beginCall(world, client, dir);
    await client.kill();
    client.loseJournal();
    world.startClient(client);
    return endsUnknown(world, call, 'was killed, and lost its journal,');
  },

  async function withAnUnsentAnswer({ world, client, dir }) {
    const call = await beginCall(world, client, dir);
    await world.server.kill();
    call.finish();
    await until('the answer is in the journal', PATIENCE_MS, () => hasAnswer(client, call));
    await client.kill();
    await world.startServer();
    world.startClient(client);
    const record = await untilEndOrRunAgain(world, call);
    if (record?.status === 'SUCCEEDED') return [];
    const end = record ? (record.error?.code ?? record.status) : 'a second run';
    const detail = `${call.id}: its answer was in the journal when its client was killed, and came to ${end}`;
    return [{ invariant: record ? 'I2' : 'I5', detail }];
  },
];

/** Each line of the file is one change of the journal. */
const hasAnswer = ({ config }: ClientProcess, { id }: BegunCall): boolean =>
  globSync(join(config.dataDir, 'journal-*')).some((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .some((line) => line.includes(id) && line.includes('"answer":{')),
  );
