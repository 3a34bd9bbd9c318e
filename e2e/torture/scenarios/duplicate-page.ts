import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright';
import type { Told } from '../../support/page-server.ts';
import type { Scenario, TortureContext, Violation } from '../scenario.ts';
import { canFindProcesses } from '../world/browser-processes.ts';
import { createPageWorld, type PageWorld, type RealBrowser } from '../world/page-world.ts';
import { within } from '../world/within.ts';

const STEP_MS = 60_000;
/** The number of calls that are asked for once there are two. */
const MORE_CALLS = 4;

/**
 * How there come to be two: `copied` has all that the tab stores, in another browser, which shares no
 * locks with it. (A second browser on the profile of a running one is refused by Chromium itself.)
 */
const WAYS = ['window.open', 'copied'] as const;
type Way = (typeof WAYS)[number];

/** A tab that there is twice: by `window.open`, by a copy of all it stores. */
export const duplicatePage: Scenario = {
  id: 'F17',
  name: 'a page with a call in mid-run is there twice',
  async run(context) {
    if (context.chromium === undefined || !canFindProcesses()) return notHere;
    const dir = await context.tempDir();
    const { build, chromium } = context;
    const world = await createPageWorld({ build, dir, chromium });
    try {
      const { counts, violations } = await runRounds(context, world);
      const all = await world.check();
      return {
        figures: { ...all.figures, ...counts },
        violations: [...violations, ...all.violations],
        summary: `${Object.entries(counts)
          .map(([way, count]) => `${count} × ${way}`)
          .join(', ')}: ${all.figures.calls} calls, none run twice`,
      };
    } finally {
      await world.end();
    }
  },
};

const notHere = {
  figures: {},
  violations: [],
  summary: 'needs a browser whose processes can be found.',
  notDone: 'no Chromium (CALLBOARD_CHROMIUM), or no /proc to find its processes in',
};

async function runRounds(context: TortureContext, world: PageWorld) {
  const browsers = [await world.launch()];
  const counts: Record<Way, number> = { 'window.open': 0, copied: 0 };
  const violations: Violation[] = [];
  const rounds = context.rounds({ full: 30, short: 2 });
  for (let round = 0; round < rounds; round += 1) {
    const way = WAYS[round % WAYS.length] ?? 'copied';
    if (way === 'copied' && browsers.length === 1) browsers.push(await world.launch());
    violations.push(...(await twice({ world, browsers, way, round })));
    counts[way] += 1;
  }
  return { counts, violations };
}

interface Round {
  readonly world: PageWorld;
  readonly browsers: readonly RealBrowser[];
  readonly way: Way;
  readonly round: number;
}

async function twice({ world, browsers, way, round }: Round): Promise<Violation[]> {
  const [browser, other = browser] = browsers;
  if (!browser || !other) throw new Error('A round has a browser');
  const name = `twice-${round}`;
  const url = world.pageUrl(name);
  const page = await browser.context.newPage();
  await page.goto(url);
  await becomes(world, name, 1);
  const running = await world.invoke('effect', { ms: 800 });
  const begun = world.pages.until(({ point, call }) => point === 'effect' && call === running);
  await within(STEP_MS, 'the tool begins', begun);

  const copies = await COPIES[way]({ page, other, url });
  await becomes(world, name, way === 'copied' ? 3 : 2);
  const ids = await Promise.all(
    Array.from({ length: MORE_CALLS }, () => world.invoke('effect', { ms: 5 })),
  );
  const violations = [
    ...(await allSucceed(world, way === 'copied' ? ids : [running, ...ids], way)),
    ...distinct(world.pages.told, name, way),
  ];
  if (way === 'copied') await world.final(running, STEP_MS);
  await Promise.all([page, ...copies].map((one) => one.close()));
  return violations;
}

/** Until so many welcomes have come for pages of this name. */
async function becomes({ pages }: PageWorld, name: string, count: number): Promise<void> {
  const ready = () =>
    pages.told.filter((told) => told.point === 'ready' && told.name === name).length;
  const giveUpAt = performance.now() + STEP_MS;
  while (ready() < count) {
    if (performance.now() > giveUpAt)
      throw new Error(`${name}: ${ready()} of ${count} are clients`);
    await sleep(20);
  }
}

interface Original {
  readonly page: Page;
  readonly other: RealBrowser;
  readonly url: string;
}

const COPIES: Record<Way, (original: Original) => Promise<Page[]>> = {
  async 'window.open'({ page }) {
    const [copy] = await Promise.all([
      page.waitForEvent('popup'),
      page.evaluate(() => void window.open(location.href)),
    ]);
    return [copy];
  },

  async copied({ page, other, url }) {
    const stored = await page.evaluate(() => ({
      local: { ...localStorage },
      session: { ...sessionStorage },
    }));
    const copy = await other.context.newPage();
    await copy.addInitScript(({ local, session }) => {
      if (sessionStorage.length > 0) return;
      Object.assign(localStorage, local);
      Object.assign(sessionStorage, session);
    }, stored);
    await copy.goto(url);
    return [copy];
  },
};

async function allSucceed(
  world: PageWorld,
  ids: readonly string[],
  way: Way,
): Promise<Violation[]> {
  const records = await Promise.all(ids.map((id) => world.final(id, STEP_MS)));
  return ids.flatMap((id, index) => {
    const record = records[index];
    if (record?.status === 'SUCCEEDED') return [];
    const end = record ? `${record.status} ${record.error?.code}` : 'no end';
    return [{ invariant: 'I6' as const, detail: `${id} came to ${end} (${way})` }];
  });
}

/**
 * Of two pages that live each has an instance of its own. Where locks are
 * shared, from their first word on; else once the server has told the older one.
 */
function distinct(told: readonly Told[], name: string, way: Way): Violation[] {
  const hellos = told.filter((one) => one.point === 'hello' && one.name === name);
  const last = new Map(hellos.map(({ life, instance }) => [life, instance]));
  const all = way === 'copied' ? [...last.values()] : hellos.map(({ instance }) => instance);
  if (last.size === 2 && new Set(all).size === all.length) return [];
  const detail = `${last.size} pages (${way}) were the instances ${all.join(', ')}`;
  return [{ invariant: 'I11', detail }];
}
