import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scenario } from '../scenario.ts';
import {
  type BegunCall,
  beginCall,
  endsUnknown,
  untilEndOrRunAgain,
  works,
} from '../world/begun-call.ts';
import type { ClientProcess } from '../world/client-process.ts';
import { must } from '../world/until.ts';
import { inWorld, type World } from '../world/world.ts';

/**
 * The only client dies while its tool stands in the middle of a call, with its journal and without;
 * and after the tool has ended, with an answer that it could not send. Each is there by order.
 */
export const killClientPoints: Scenario = {
  id: 'F05c',
  name: 'kill -9 of a client in mid-run, with and without its journal, and with an unsent answer',
  run: (context) =>
    inWorld(context, { clients: 1 }, async (world) => {
      const rounds = context.rounds({ full: 10, short: 1 });
      await world.startServer();
      world.startClients();
      await works(world);
      for (let round = 0; round < rounds; round += 1) {
        for (const kill of KILLS) {
          await kill(world, await beginCall(world, world.client));
          await works(world);
        }
      }
      const { figures } = await world.rest();
      const kills = rounds * KILLS.length;
      return {
        figures: { ...figures, client_kills: kills },
        summary: `${kills} × kill -9 of a client in mid-run, without its journal, with an unsent answer: ${figures.accepted} calls, ${figures.outcome_unknown} outcome unknown, each effect done once`,
      };
    }),
};

const KILLS: readonly ((world: World, call: BegunCall) => Promise<void>)[] = [
  async function inMidRun(world, call) {
    await world.client.kill();
    world.startClients();
    return endsUnknown(world, call, 'was killed');
  },

  async function withoutItsJournal(world, call) {
    await world.client.kill();
    world.client.loseJournal();
    world.startClients();
    return endsUnknown(world, call, 'was killed, and lost its journal,');
  },

  async function withAnUnsentAnswer(world, call) {
    const { client } = world;
    await world.server.end('SIGKILL');
    call.finish();
    await must('the answer is in the journal', () => hasAnswer(client, call));
    await client.kill();
    await world.startServer();
    world.startClient(client);
    const record = await untilEndOrRunAgain(world, call);
    if (record?.status === 'SUCCEEDED') return;
    const end = record ? (record.error?.code ?? record.status) : 'a second run';
    const detail = `${call.id}: its answer was in the journal when its client was killed, and came to ${end}`;
    world.bad(record ? 'I2' : 'I5', detail);
  },
];

/** Rows are JSON texts, and stand in the file as they are. */
const hasAnswer = ({ config }: ClientProcess, { id }: BegunCall): boolean =>
  globSync(join(config.dataDir, 'journal-*')).some((file) =>
    readFileSync(file, 'utf8').includes(`"answer":{"type":"tool_result","id":"${id}"`),
  );
