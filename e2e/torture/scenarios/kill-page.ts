import { setTimeout as sleep } from 'node:timers/promises';
import type { CDPSession } from 'playwright';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Told } from '../../support/page-server.ts';
import type { Random } from '../random.ts';
import type { Scenario, TortureContext } from '../scenario.ts';
import { renderersOf, signal } from '../world/browser-processes.ts';
import { inPageWorld, type PageWorld, type RealBrowser } from '../world/page-world.ts';
import { PATIENCE_MS, within } from '../world/until.ts';

/** Where in its life with a call a page dies. Each is told to the harness before the page goes on. */
const POINTS = [
  'requested',
  'claiming',
  'granted',
  'effect',
  'answering',
  'acknowledged',
] as const satisfies readonly Told['point'][];

/** After its page is back. The plan says two seconds; on a busy machine five were too few. */
const BACK_MS = 20_000;
/** The clock of a call whose browser ends: its tab does not come back, and `execute` ends the call. */
const SHORT_MS = 1_500;

/** How a call ends whose page died at this point and came back with its journal. */
const endsAt = (point: (typeof POINTS)[number], tool: 'effect' | 'read') =>
  point === 'effect' && tool === 'effect' ? 'outcome_unknown' : 'SUCCEEDED';

/** Reload, crash of the tab, end of the browser, loss of the site's data: in the middle of a call. */
export const killPage: Scenario = {
  id: 'F05',
  name: 'a real page reloaded, crashed, or ended with its browser in the middle of a call',
  run: (context) =>
    inPageWorld(context, async (world) => {
      const counts = await runRounds(context, await openRig(world));
      const figures = await world.rest();
      const kinds = Object.entries(counts).map(([kind, count]) => `${count} × ${kind}`);
      return {
        figures: { ...figures, ...counts },
        summary: `${kinds.join(', ')}: ${figures.effects} effects done at most once, ${figures.outcome_unknown} outcome unknown`,
      };
    }),
};

/** One browser with one tab; both are replaced when they are ended. */
interface Rig {
  readonly world: PageWorld;
  browser: RealBrowser;
  /** The session of the tab, over the deaths of its page: Playwright's own page is over with the first. */
  session: CDPSession;
}

async function openRig(world: PageWorld, profile?: string): Promise<Rig> {
  const browser = await world.launch(profile);
  const page = browser.context.pages()[0] ?? (await browser.context.newPage());
  const session = await browser.context.newCDPSession(page);
  const rig: Rig = { world, browser, session };
  await comeBack(rig, () => session.send('Page.navigate', { url: world.pageUrl('page') }));
  return rig;
}

/** Resolves once a page that was loaded from now on has its tools registered. */
async function comeBack({ world: { pages } }: Rig, act: () => Promise<unknown>): Promise<void> {
  const before = new Set(pages.told.map(({ life }) => life));
  const back = pages.until(({ point, life }) => point === 'ready' && !before.has(life));
  await within('the page is loaded', act());
  await within('the page is a client', back);
}

type Kind = 'reload' | 'crash' | 'browser' | 'new journal';

async function runRounds(context: TortureContext, rig: Rig) {
  const { random } = context;
  const points = random.shuffle(POINTS.flatMap((point) => [point, point]));
  const plan: Kind[] = [
    ...times(context.rounds({ full: 44, short: 6 }), 'crash' as const),
    ...times(context.rounds({ full: 40, short: 2 }), 'reload' as const),
    ...times(context.rounds({ full: 10, short: 1 }), 'browser' as const),
    ...times(context.rounds({ full: 6, short: 1 }), 'new journal' as const),
  ];
  const counts: Record<Kind, number> = { reload: 0, crash: 0, browser: 0, 'new journal': 0 };
  for (const kind of plan) {
    // In turn, so that also a short run has each point at which something may be lost.
    const point = POINTS[counts.crash % POINTS.length] ?? random.pick(points);
    await ROUNDS[kind](rig, random, kind === 'browser' ? random.pick(POINTS) : point);
    await works(rig);
    counts[kind] += 1;
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    if (total % 10 === 0) context.say(`${total} of ${plan.length}`);
  }
  return counts;
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

type Round = (rig: Rig, random: Random, point: (typeof POINTS)[number]) => Promise<void>;

const ROUNDS: Record<Kind, Round> = { reload, crash, browser: endBrowser, 'new journal': loseData };

/** At a random moment: whatever it hit, the call ends, and no effect is done twice. */
async function reload(rig: Rig, random: Random): Promise<void> {
  const tool = random.pick(['effect', 'effect', 'read'] as const);
  const id = await rig.world.api.invoke(tool, { args: { ms: random.between(0, 120) } });
  await sleep(random.between(0, 150));
  await comeBack(rig, () => rig.session.send('Page.reload'));
  await endsWithin(rig, id, BACK_MS, 'after a reload');
}

async function crash(rig: Rig, random: Random, point: (typeof POINTS)[number]): Promise<void> {
  // Where a journal decides, by the tool that may not be run again.
  const decides = point === 'effect' || point === 'answering';
  const tool = decides || random.chance(0.75) ? 'effect' : 'read';
  const id = await stopAt(rig, tool, point);
  // The browser must have noticed before it is asked for a new process.
  const noticed = new Promise<void>((crashed) =>
    rig.session.once('Inspector.targetCrashed', () => crashed()),
  );
  for (const pid of renderersOf(rig.browser.profile)) signal(pid, 'SIGKILL');
  await within('the browser notices', noticed);
  await comeBack(rig, () => rig.session.send('Page.reload'));
  const { status, error } = await endsWithin(rig, id, BACK_MS, `after a crash at "${point}"`);
  const [end, wanted] = [error?.code ?? status, endsAt(point, tool)];
  if (end === wanted) return;
  const detail = `${id}: the page died at "${point}" and came back; the call ended ${end}, not ${wanted}`;
  rig.world.bad(point === 'answering' ? 'I2' : 'I7', detail);
}

/** The tab's `sessionStorage` goes with the browser: nobody comes back for the call. */
async function endBrowser(rig: Rig, _random: Random, point: (typeof POINTS)[number]) {
  const id = await stopAt(rig, 'effect', point, SHORT_MS);
  await rig.browser.kill();
  Object.assign(rig, await openRig(rig.world, rig.browser.profile));
  await endsWithin(rig, id, SHORT_MS + BACK_MS, `after the browser ended at "${point}"`);
}

/** The journal is gone and the tab is not, as when a person clears the data of a site. */
async function loseData(rig: Rig): Promise<void> {
  const { world, session } = rig;
  const id = await world.api.invoke('effect', { args: { ms: 60_000 } });
  await world.untilBegun(id);
  await session.send('Page.navigate', { url: 'about:blank' });
  const { origin } = world.pages;
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'indexeddb' });
  await comeBack(rig, () => session.send('Page.navigate', { url: world.pageUrl('page') }));
  await endsWithin(rig, id, BACK_MS, 'after the journal was lost');
}

/** An undisturbed call of each tool. After three deaths in a row the breaker would rest the page for half a minute. */
async function works({ world: { api, bad } }: Rig): Promise<void> {
  const ids = await Promise.all(['effect', 'read'].map((tool) => api.invoke(tool)));
  for (const id of ids) {
    const { status, error } = await api.end(id, PATIENCE_MS);
    if (status !== 'SUCCEEDED')
      bad('HEALTH', `${id}, with nothing broken, came to ${status} ${error?.code}`);
  }
}

/** A call whose page stands still at a point, for as long as it lives. */
async function stopAt(
  { world }: Rig,
  tool: 'effect' | 'read',
  point: (typeof POINTS)[number],
  timeoutMs?: number,
): Promise<string> {
  const asked = Promise.withResolvers<string>();
  const stands = Promise.withResolvers<void>();
  const wanted = point === 'effect' ? tool : point;
  world.pages.onPublished = async (told) => {
    if (told.point !== wanted || told.call !== (await asked.promise)) return;
    world.pages.onPublished = () => {};
    stands.resolve();
    await new Promise(() => {});
  };
  const id = await world.api.invoke(tool, timeoutMs ? { timeout_ms: timeoutMs } : {});
  asked.resolve(id);
  await within(`the page stands at ${point}`, stands.promise);
  return id;
}

async function endsWithin({ world: { api, bad } }: Rig, id: string, ms: number, when: string) {
  const record = await api.end(id, ms);
  if (!isFinalStatus(record.status))
    bad('I4', `${id} is ${record.status}/${record.phase} ${ms} ms ${when}`);
  return record;
}
