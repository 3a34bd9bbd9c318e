import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson } from '#lib/json/equal';
import type { WireCallRecord } from '#lib/protocol/call-record';
import type { Build } from '../build-variant.ts';
import type { Scenario, TortureContext, Violation } from '../scenario.ts';
import { withoutStack } from '../without-stack.ts';
import { createApi } from '../world/api.ts';
import { type ServerProcess, startServer, takePort } from '../world/server-process.ts';
import { createWorld, type World } from '../world/world.ts';
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
    const stores = await fill(context, join(dir, 'world'));
    if ('violations' in stores)
      return { ...stores, figures: {}, summary: 'the store was not filled' };
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
    const violations: Violation[] = [];
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
        const found = await judge(context.build, copy, stores.records, one.damage, isSalvaged);
        verdicts[found.verdict] += 1;
        violations.push(...found.violations);
        salvaged += found.isSalvaged ? 1 : 0;
        rmSync(copy, { recursive: true });
        if (at % 50 === 49) context.say(`${at + 1} of ${cases.length}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return {
      violations,
      figures: { damaged: cases.length, ...verdicts, salvaged, calls: stores.records.size },
      summary: `${cases.length} damaged stores of ${stores.records.size} calls: ${verdicts.refused} refused with the place, ${verdicts.identical} served unchanged, ${verdicts.torn} with a torn end reported, ${verdicts.wrong} wrong answers; ${salvaged} salvaged`,
    };
  },
};

/** Calls of all kinds, all at rest. */
async function fill(
  context: TortureContext,
  dir: string,
): Promise<Stores | { violations: readonly Violation[] }> {
  mkdirSync(dir);
  const { build, random } = context;
  const world = await createWorld({ build, dir, random: random.fork('fill') });
  try {
    for (const client of world.clients) world.startClient(client);
    await world.startServer();
    world.startLoad();
    await world.untilAccepted(context.isShort ? 40 : 150);
    await mustAccept(world, DAMAGED_TEXT);
    const { violations, records } = await world.rest();
    if (violations.length > 0) return { violations };
    await Promise.all(world.clients.map((client) => client.kill()));
    await world.server.kill();
    const [withLog, stopped] = [join(dir, 'with-log'), join(dir, 'stopped')];
    cpSync(world.dataDir, withLog, { recursive: true });
    await world.startServer();
    await world.server.stop();
    cpSync(world.dataDir, stopped, { recursive: true });
    return { withLog, stopped, records };
  } finally {
    await world.end();
  }
}

async function mustAccept({ api, witness }: World, nonce: string): Promise<void> {
  const answer = await api.ask('POST', '/v1/tools/effect/invoke', {
    headers: { 'idempotency-key': nonce },
    body: { run_id: 'run_damaged', args: { nonce } },
  });
  if (answer?.status !== 202) throw new Error(`${nonce}: ${JSON.stringify(answer)}`);
  const { tool_call_id: id } = answer.body as { tool_call_id: string };
  witness.accepted(id, { key: nonce, tool: 'effect', nonce });
}

async function judge(
  build: Build,
  dir: string,
  records: Stores['records'],
  damage: Damage,
  salvages: boolean,
): Promise<{ verdict: Verdict; violations: Violation[]; isSalvaged: boolean }> {
  const { name } = damage;
  const port = await takePort();
  const options = { serverFile: build.serverFile, dataDir: dir, token: TOKEN, port };
  const server = startServer(options);
  const wrong = (invariant: Violation['invariant'], detail: string) => ({
    verdict: 'wrong' as const,
    violations: [{ invariant, detail: `${name}: ${detail}` }],
    isSalvaged: false,
  });
  try {
    if ((await server.ready) === undefined) {
      const { code } = await server.ended;
      const said = server.log().trim();
      if (code !== DAMAGED)
        return wrong('HEALTH', `it ended with ${code}: ${withoutStack(said).slice(-600)}`);
      if (!/byte|page|row|table|index|frame|definition|missing|commits|database/i.test(said)) {
        return wrong('HEALTH', `it does not name the place: ${said}`);
      }
      if (!salvages) return { verdict: 'refused', violations: [], isSalvaged: false };
      const violations = await salvage({ ...options, args: ['--salvage'] }, damage, records);
      return { verdict: 'refused', violations, isSalvaged: violations.length === 0 };
    }
    return await compare(server, port, records, wrong);
  } finally {
    await server.kill();
  }
}

async function compare(
  server: ServerProcess,
  port: number,
  records: Stores['records'],
  wrong: (invariant: Violation['invariant'], detail: string) => Awaited<ReturnType<typeof judge>>,
): ReturnType<typeof judge> {
  const found = await createApi(`http://127.0.0.1:${port}`, TOKEN)
    .records()
    .catch((error: unknown) => String(error));
  if (typeof found === 'string') return wrong('I2', `it serves what it cannot read: ${found}`);
  const other = differences(records, found);
  const isTold = server.log().includes('never acknowledged');
  if (other.length === 0) {
    return { verdict: isTold ? 'torn' : 'identical', violations: [], isSalvaged: false };
  }
  const [id = ''] = other.map(([first]) => first);
  const now = JSON.stringify(found.get(id))?.slice(0, 300);
  return wrong('I2', `${other.length} calls are not what they were, first ${id}: ${now}`);
}

const differences = (records: Stores['records'], found: Stores['records']) =>
  [...records].filter(([id, record]) => canonicalJson(found.get(id)) !== canonicalJson(record));

async function salvage(
  options: Parameters<typeof startServer>[0],
  { name, isHarmless }: Damage,
  records: Stores['records'],
): Promise<Violation[]> {
  const server = startServer(options);
  try {
    if ((await server.ready) === undefined) {
      const { code } = await server.ended;
      const detail = `${name}: --salvage ended with ${code}: ${server.log().slice(-600)}`;
      return [{ invariant: 'HEALTH', detail }];
    }
    if (!isHarmless) return [];
    const { port, token } = options;
    const found = await createApi(`http://127.0.0.1:${port}`, token).records();
    const lost = differences(records, found).length;
    const detail = `${name}: --salvage lost or changed ${lost} calls: ${server.log().slice(-600)}`;
    return lost === 0 ? [] : [{ invariant: 'I1', detail }];
  } finally {
    await server.kill();
  }
}
