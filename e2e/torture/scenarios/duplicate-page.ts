import type { Page } from 'playwright';
import type { Scenario } from '../scenario.ts';
import { inPageWorld, type PageWorld, type RealBrowser } from '../world/page-world.ts';
import { must, PATIENCE_MS } from '../world/until.ts';

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
  run: (context) =>
    inPageWorld(context, async (world) => {
      const browsers = [await world.launch()];
      const counts: Record<Way, number> = { 'window.open': 0, copied: 0 };
      const rounds = context.rounds({ full: 30, short: 2 });
      for (let round = 0; round < rounds; round += 1) {
        const way = WAYS[round % WAYS.length] ?? 'copied';
        if (way === 'copied' && browsers.length === 1) browsers.push(await world.launch());
        await twice({ world, browsers, way, round });
        counts[way] += 1;
      }
      const figures = await world.rest();
      const ways = WAYS.map((way) => `${counts[way]} × ${way}`).join(', ');
      return {
        figures: { ...figures, ...counts },
        summary: `${ways}: ${figures.calls} calls, none run twice`,
      };
    }),
};

interface Round {
  readonly world: PageWorld;
  readonly browsers: readonly RealBrowser[];
  readonly way: Way;
  readonly round: number;
}

async function twice({ world, browsers, way, round }: Round): Promise<void> {
  const [browser, other = browser] = browsers;
  if (!browser || !other) throw new Error('A round has a browser');
  const { api } = world;
  const name = `twice-${round}`;
  const url = world.pageUrl(name);
  const page = await browser.context.newPage();
  await page.goto(url);
  await becomes(world, name, 1);
  const running = await api.invoke('effect', { args: { ms: 800 } });
  await world.untilBegun(running);

  const copies = await COPIES[way]({ page, other, url });
  await becomes(world, name, way === 'copied' ? 3 : 2);
  const ids = await Promise.all(
    Array.from({ length: MORE_CALLS }, () => api.invoke('effect', { args: { ms: 5 } })),
  );
  for (const id of way === 'copied' ? ids : [running, ...ids]) {
    const { status, error } = await api.end(id, PATIENCE_MS);
    if (status !== 'SUCCEEDED') world.bad('I6', `${id} came to ${status} ${error?.code} (${way})`);
  }
  checkDistinct(world, name, way);
  if (way === 'copied') await api.end(running, PATIENCE_MS);
  await Promise.all([page, ...copies].map((one) => one.close()));
}

/** Until so many welcomes have come for pages of this name. */
async function becomes({ pages }: PageWorld, name: string, count: number): Promise<void> {
  const ready = () =>
    pages.told.filter((told) => told.point === 'ready' && told.name === name).length;
  await must(`${name}: ${count} are clients`, () => ready() >= count);
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

/**
 * Of two pages that live each has an instance of its own. Where locks are
 * shared, from their first word on; else once the server has told the older one.
 */
function checkDistinct({ pages, bad }: PageWorld, name: string, way: Way): void {
  const hellos = pages.told.filter((one) => one.point === 'hello' && one.name === name);
  const last = new Map(hellos.map(({ life, instance }) => [life, instance]));
  const all = way === 'copied' ? [...last.values()] : hellos.map(({ instance }) => instance);
  if (last.size === 2 && new Set(all).size === all.length) return;
  bad('I11', `${last.size} pages (${way}) were the instances ${all.join(', ')}`);
}
