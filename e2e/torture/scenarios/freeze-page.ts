import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, Page } from 'playwright';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { CLOCKS, LIMITS } from '#lib/protocol/limits';
import type { Scenario, TortureContext } from '../scenario.ts';
import { renderersOf, signal } from '../world/browser-processes.ts';
import { inPageWorld, type PageWorld, type RealBrowser } from '../world/page-world.ts';
import { PATIENCE_MS, within } from '../world/until.ts';

const CALLS = 5;
/** Pages that are frozen at the same time; each has its own process. */
const AT_ONCE = 5;
/** Longer than the disk takes for a grant on a machine under load: a call whose time is over by then is refused. */
const GRANTED_MS = 3_000;

/**
 * Before the page has seen the requests, or between its claims and the grants.
 * Of the first kind some wait for the clock, which takes half a minute.
 */
type Kind = 'requests, cancelled' | 'requests, timed out' | 'grants, timed out';

/** The processes of real pages stopped for longer than their calls have, and let go again. */
export const freezePage: Scenario = {
  id: 'F13',
  name: "a page's process stopped for longer than its calls may take, then continued",
  run: (context) =>
    inPageWorld(context, async (world) => {
      const { ended, ran } = await runBatches(context, world, await world.launch());
      const figures = await world.rest();
      return {
        figures: { ...figures, calls_ended_while_frozen: ended, of_these_run: ran },
        summary: `${ended} calls ended while their page was frozen: ${ran} of them were run by it later`,
      };
    }),
};

async function runBatches(context: TortureContext, world: PageWorld, browser: RealBrowser) {
  const plan: Kind[] = [
    ...times(context.rounds({ full: 20, short: 1 }), 'grants, timed out' as const),
    ...times(context.rounds({ full: 10, short: 1 }), 'requests, cancelled' as const),
    ...times(context.rounds({ full: 10, short: 0 }), 'requests, timed out' as const),
  ].slice(0, context.isShort ? 2 : undefined);
  let [ended, ran] = [0, 0];
  for (const kind of new Set(plan)) {
    for (let left = plan.filter((one) => one === kind).length; left > 0; left -= AT_ONCE) {
      const pages = await openPages(world, browser, kind, Math.min(left, AT_ONCE));
      const ids = await FREEZES[kind](world, browser, pages);
      await sleep(context.random.between(50, 400));
      thaw(browser);
      const asleep = await untilAwake(world, pages).catch((error: Error) => error);
      const effects = world.pages.effects();
      const late = ids.filter((id) => effects.has(id));
      // A page that runs what it was not granted may answer nothing afterwards.
      if (asleep instanceof Error && late.length === 0) throw asleep;
      ended += ids.length;
      ran += late.length;
      for (const id of late)
        world.bad('I7', `${id} ended (${kind}) while its page was frozen, and the page ran it`);
      await Promise.all(pages.map(({ page }) => page.close()));
      context.say(`${ended} calls ended in frozen pages, ${ran} of them run`);
    }
  }
  return { ended, ran };
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

/** A page that is a client of its own, by a name of its own. */
interface FrozenPage {
  readonly page: Page;
  readonly name: string;
  readonly client: string;
}

let opened = 0;

async function openPages(
  world: PageWorld,
  { context }: RealBrowser,
  kind: Kind,
  count: number,
): Promise<FrozenPage[]> {
  const pages: FrozenPage[] = [];
  // One after another: tabs of one profile are one client, so each forgets who it was.
  for (let index = 0; index < count; index += 1) {
    pages.push(await openPage(world, context, kind === 'grants, timed out' ? CALLS : 0));
  }
  return pages;
}

async function openPage(
  world: PageWorld,
  context: BrowserContext,
  hold: number,
): Promise<FrozenPage> {
  opened += 1;
  const name = `frozen-${opened}`;
  const page = await context.newPage();
  await page.addInitScript(() => localStorage.clear());
  await page.goto(world.pageUrl(name, hold));
  const is = (point: string) => (told: { point: string; name: string }) =>
    told.point === point && told.name === name;
  await within('the page is a client', world.pages.until(is('ready')));
  const { client = '' } = await world.pages.until(is('welcome'));
  return { page, name, client };
}

type Freeze = (
  world: PageWorld,
  browser: RealBrowser,
  pages: readonly FrozenPage[],
) => Promise<string[]>;

/** Each leaves the pages frozen, with calls that have ended. */
const FREEZES: Record<Kind, Freeze> = {
  async 'requests, cancelled'(world, browser, pages) {
    freeze(browser);
    const ids = await askAll(world, pages, LIMITS.minTimeoutMs);
    await Promise.all(ids.map((id) => world.api.cancel(id)));
    await allEnd(world, ids, CLOCKS.cancelMs + PATIENCE_MS);
    return ids;
  },

  async 'requests, timed out'(world, browser, pages) {
    freeze(browser);
    const ids = await askAll(world, pages, LIMITS.minTimeoutMs);
    await allEnd(world, ids, CLOCKS.queueMs + PATIENCE_MS);
    return ids;
  },

  async 'grants, timed out'(world, browser, pages) {
    const frozen = Promise.withResolvers<void>();
    const waiting = new Set(pages.map(({ name }) => name));
    const allStand = Promise.withResolvers<void>();
    world.pages.onPublished = ({ point, name }) => {
      // No grant has reached the library of a page in this set: its run is the violation.
      if (point === 'effect' && waiting.has(name)) return allStand.resolve();
      if (point !== 'granted') return;
      waiting.delete(name);
      if (waiting.size === 0) allStand.resolve();
      return frozen.promise;
    };
    const ids = await askAll(world, pages, GRANTED_MS);
    await within('all grants have come', allStand.promise).catch(async (error: Error) => {
      const lines = await Promise.all([...waiting].map((name) => standOf(world, name, ids)));
      throw new Error(`${error.message}: ${lines.join('; ')}`);
    });
    freeze(browser);
    world.pages.onPublished = () => {};
    frozen.resolve();
    await allEnd(world, ids, GRANTED_MS + PATIENCE_MS);
    return ids;
  },
};

/** It tells how far a page came that does not come as far as the others, and how its calls stand. */
async function standOf(world: PageWorld, name: string, ids: readonly string[]): Promise<string> {
  const told = world.pages.told.filter((one) => one.name === name);
  const calls = new Set(told.flatMap(({ call }) => (call === undefined ? [] : [call])));
  const own = ids.filter((id) => calls.has(id));
  const states = await Promise.all(
    own.map(async (id) => `${id} ${(await world.api.read(id)).status}`),
  );
  return `${name} told ${told.map(({ point }) => point).join(' ')}; its calls: ${states.join(', ')}`;
}

const askAll = (world: PageWorld, pages: readonly FrozenPage[], timeoutMs: number) =>
  Promise.all(
    pages.flatMap(({ client }) =>
      times(CALLS, client).map((to) =>
        world.api.invoke('effect', { client: to, timeout_ms: timeoutMs }),
      ),
    ),
  );

async function allEnd({ api }: PageWorld, ids: readonly string[], ms: number): Promise<void> {
  const records = await Promise.all(ids.map((id) => api.end(id, ms)));
  const open = records.filter(({ status }) => !isFinalStatus(status));
  if (open.length > 0) throw new Error(`after ${ms} ms ${open.length} calls are open`);
}

const freeze = ({ profile }: RealBrowser): void => {
  for (const pid of renderersOf(profile)) signal(pid, 'SIGSTOP');
};

const thaw = ({ profile }: RealBrowser): void => {
  for (const pid of renderersOf(profile)) signal(pid, 'SIGCONT');
};

/** A page that answers a new call has handled all that came before it. */
async function untilAwake({ api }: PageWorld, pages: readonly FrozenPage[]): Promise<void> {
  const answers = await Promise.all(
    pages.map(async ({ client }) =>
      api.end(await api.invoke('read', { client, args: { ms: 50 } }), PATIENCE_MS),
    ),
  );
  for (const { status, error } of answers) {
    if (status !== 'SUCCEEDED') throw new Error(`a page did not wake up: ${JSON.stringify(error)}`);
  }
}
