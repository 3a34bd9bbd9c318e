import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson } from '#lib/json/equal';
import type { WireCallRecord } from '#lib/protocol/call-record';
import { freePort } from '../../support/free-port.ts';
import { withoutStack } from '../report.ts';
import type { Invariant, Scenario, TortureContext } from '../scenario.ts';
import { createApi } from '../world/api.ts';
import { type ServerProcess, startServer } from '../world/server-process.ts';
import { inWorld } from '../world/world.ts';
import {
  commitsCutOff,
  type Damage,
  innerPagesZeroed,
  logDamage,
  randomDamage,
  textDamage,
} from './damage.ts';

const DAMAGED = 78;
const AT_ONCE = 2;
/** Its last letter becomes a 9: no index has it in another place then, or twice. */
const DAMAGED_TEXT = 'zz-damaged-8';
const TOKEN = 'the-token-of-the-one-who-looks';

/** A store at rest: with a log, as a kill leaves it, and without, as a stop does. */
interface Stores {
  readonly withLog: string;
  readonly stopped: string;
  readonly records: ReadonlyMap<string, WireCallRecord>;
}

type Verdict = 'refused' | 'identical' | 'torn' | 'wrong';

/** A store that was damaged while no server ran. It is refused, or all is as it was; never a wrong answer. */
export const storeDamage: Scenario = {
  id: 'F08',
  name: 'the store is damaged: bits flipped, cut off, zeroed, deleted',
  async run(context) {
    const { random } = context;
    const dir = await context.tempDir();
    const stores = await fill(context, join(dir, 'stores'));
    if (context.violations.length > 0) return { figures: {}, summary: 'the store was not filled' };
    const cases: { store: string; damage: Damage }[] = [
      { store: stores.stopped, damage: textDamage('callboard.db', DAMAGED_TEXT) },
      { store: stores.withLog, damage: logDamage(0.4) },
      { store: stores.withLog, damage: commitsCutOff },
      { store: stores.stopped, damage: innerPagesZeroed },
    ];
    const count = context.rounds({ full: 500, short: 5 });
    while (cases.length < count) {
      const file = random.pick(['callboard.db', 'callboard.db', 'callboard.db-wal'] as const);
      const store =
        file === 'callboard.db' ? random.pick([stores.withLog, stores.stopped]) : stores.withLog;
      cases.push({ store, damage: randomDamage(file, random) });
    }
    const verdicts: Record<Verdict, number> = { refused: 0, identical: 0, torn: 0, wrong: 0 };
    let [next, salvaged] = [0, 0];
    const work = async () => {
      for (let at = next++; at < cases.length; at = next++) {
        const one = cases[at];
        if (!one) continue;
        const copy = join(dir, `copy-${at}`);
        cpSync(one.store, copy, { recursive: true });
        one.damage.apply(copy);
        // In the long run each tenth refused store is salvaged, too.
        const isSalvaged = one.damage.isHarmless || (context.isShort ? at === 0 : at % 10 === 0);
        const verdict = await judge(context, copy, stores.records, one.damage);
        verdicts[verdict] += 1;
        if (verdict === 'refused' && isSalvaged)
          salvaged += await salvage(context, copy, stores.records, one.damage);
        rmSync(copy, { recursive: true });
        if (at % 50 === 49) context.say(`${at + 1} of ${cases.length}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return {
      figures: { damaged: cases.length, ...verdicts, salvaged, calls: stores.records.size },
      summary: `${cases.length} damaged stores of ${stores.records.size} calls: ${verdicts.refused} refused with the place, ${verdicts.identical} served unchanged, ${verdicts.torn} with a torn end reported, ${verdicts.wrong} wrong answers; ${salvaged} salvaged`,
    };
  },
};

/** Calls of all kinds, all at rest. */
const fill = (context: TortureContext, dir: string): Promise<Stores> =>
  inWorld(context, {}, async (world) => {
    mkdirSync(dir);
    world.startClients();
    await world.startServer();
    world.startLoad();
    await world.untilAccepted(context.isShort ? 40 : 150);
    await world.api.invoke('effect', { key: DAMAGED_TEXT });
    const { records } = await world.rest();
    await Promise.all(world.clients.map((client) => client.kill()));
    await world.server.end('SIGKILL');
    const [withLog, stopped] = [join(dir, 'with-log'), join(dir, 'stopped')];
    cpSync(world.dataDir, withLog, { recursive: true });
    await world.startServer();
    await world.server.end('SIGTERM');
    cpSync(world.dataDir, stopped, { recursive: true });
    return { withLog, stopped, records };
  });

/** Starts a server on a store and looks at what comes of it. */
async function withServer<T>(
  { build }: TortureContext,
  dataDir: string,
  args: readonly string[],
  look: (server: ServerProcess, records: () => Promise<Stores['records']>) => Promise<T>,
): Promise<T> {
  const port = await freePort();
  const server = startServer({ serverFile: build.serverFile, dataDir, token: TOKEN, port, args });
  const api = createApi({ url: `http://127.0.0.1:${port}`, token: TOKEN });
  try {
    return await look(server, api.records);
  } finally {
    await server.end('SIGKILL');
  }
}

const judge = (
  context: TortureContext,
  dir: string,
  records: Stores['records'],
  { name }: Damage,
): Promise<Verdict> =>
  withServer(context, dir, [], async (server, read) => {
    const wrong = (invariant: Invariant, detail: string): Verdict => {
      context.bad(invariant, `${name}: ${detail}`);
      return 'wrong';
    };
    if ((await server.ready) === undefined) {
      const { code } = await server.ended;
      const said = server.log().trim();
      if (code !== DAMAGED)
        return wrong('HEALTH', `it ended with ${code}: ${withoutStack(said).slice(-600)}`);
      if (!/byte|page|row|table|index|frame|definition|missing|commits|database/i.test(said))
        return wrong('HEALTH', `it does not name the place: ${said}`);
      return 'refused';
    }
    const found = await read().catch((error: unknown) => String(error));
    if (typeof found === 'string') return wrong('I2', `it serves what it cannot read: ${found}`);
    const other = differences(records, found);
    if (other.length === 0)
      return server.log().includes('never acknowledged') ? 'torn' : 'identical';
    const [id = ''] = other;
    const now = JSON.stringify(found.get(id))?.slice(0, 300);
    return wrong('I2', `${other.length} calls are not what they were, first ${id}: ${now}`);
  });

const differences = (records: Stores['records'], found: Stores['records']): string[] =>
  [...records.keys()].filter(
    (id) => canonicalJson(found.get(id)) !== canonicalJson(records.get(id)),
  );

/** Gives how many stores were brought back by it. */
const salvage = (
  context: TortureContext,
  dir: string,
  records: Stores['records'],
  { name, isHarmless }: Damage,
): Promise<0 | 1> =>
  withServer(context, dir, ['--salvage'], async (server, read) => {
    const last = () => server.log().slice(-600);
    if ((await server.ready) === undefined) {
      const { code } = await server.ended;
      context.bad('HEALTH', `${name}: --salvage ended with ${code}: ${last()}`);
      return 0;
    }
    const lost = isHarmless ? differences(records, await read()).length : 0;
    if (lost === 0) return 1;
    context.bad('I1', `${name}: --salvage lost or changed ${lost} calls: ${last()}`);
    return 0;
  });
