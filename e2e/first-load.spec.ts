import { gzipSync } from 'node:zlib';
import type { BrowserContext, Page } from '@playwright/test';
import { invoke } from './contract/kit/calls.ts';
import { expect, test } from './fixtures.ts';
import type { Callboard } from './start-callboard.ts';
import { cards, composer, conversation, signIn, untilReady } from './support/workbench.ts';

/** Bytes of JavaScript, gzipped, that the workbench may load before any person has done anything. */
const LIMIT = 250_000;
/** The size of the script that makes any page a client. */
const CLIENT_LIMIT = 20_000;

/** The scripts that a page loads from now on, by path, with their gzipped size. */
function scriptsOf(page: Page): Map<string, Promise<number>> {
  const scripts = new Map<string, Promise<number>>();
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (response.request().resourceType() !== 'script' || scripts.has(pathname)) return;
    scripts.set(
      pathname,
      response.body().then((bytes) => gzipSync(bytes).length),
    );
  });
  return scripts;
}

/**
 * A page that is never idle until `run` is called: what it loads before is what it needs to be
 * usable, what it loads then is what it fetches ahead of need.
 */
async function holdIdle(page: Page): Promise<{ run(): Promise<void> }> {
  await page.addInitScript(() => {
    const waiting: IdleRequestCallback[] = [];
    window.requestIdleCallback = (callback) => waiting.push(callback);
    window.cancelIdleCallback = (handle) => void waiting.splice(handle - 1, 1, () => {});
    window.addEventListener('test:idle', () => {
      for (const callback of waiting) callback({ didTimeout: false, timeRemaining: () => 50 });
    });
  });
  return { run: () => page.evaluate(() => void window.dispatchEvent(new Event('test:idle'))) };
}

/** In all, and one by one for a message that can be acted on. */
async function sizesOf(scripts: Map<string, Promise<number>>) {
  const sizes = await Promise.all(
    [...scripts].map(async ([path, size]) => ({ path, size: await size })),
  );
  return {
    total: sizes.reduce((sum, { size }) => sum + size, 0),
    list: JSON.stringify(
      sizes.toSorted((a, b) => b.size - a.size),
      null,
      1,
    ),
  };
}

/**
 * Measured is all JavaScript of a first visit until the page is connected, has offered its tools
 * and has taken a message, without what it fetches when it is idle: cards, conversation and
 * messages of the page. The bytes are compressed here as a proxy would (gzip, default level).
 */
test('the workbench is usable with at most 250 kB of JavaScript, gzipped, and fetches the rest when idle', async ({
  page,
  context,
  callboard,
}, testInfo) => {
  await signIn(page, callboard);
  await page.close();
  const first = await context.newPage();
  const idle = await holdIdle(first);
  const scripts = scriptsOf(first);
  await first.goto(callboard.url);
  await untilReady(first);
  await first.waitForLoadState('networkidle');
  await composer(first).fill('(2+3)*4?');
  await expect(first.getByRole('button', { name: 'Send' })).toBeEnabled();
  const { total, list } = await sizesOf(scripts);
  await testInfo.attach('first-load.json', { body: list, contentType: 'application/json' });
  expect(total, list).toBeLessThanOrEqual(LIMIT);
  // Guards the measurement itself: a page without scripts would be small as well.
  expect(total).toBeGreaterThan(100_000);

  const before = scripts.size;
  await idle.run();
  await expect.poll(() => scripts.size).toBeGreaterThan(before);
  await first.waitForLoadState('networkidle');
  await first.route('**/_next/static/**', (route) => route.abort());
  await composer(first).press('Enter');
  await expect(cards(first)).toHaveAttribute('data-status', 'SUCCESS');
  await expect(conversation(first)).toContainText('20');
});

test('[PG12] the script is sent with less than 20,000 bytes', async ({ callboard }) => {
  const url = `${callboard.url}/client.js`;
  const answer = await fetch(url);
  expect(answer.headers.get('content-encoding')).toBe('gzip');
  const sent = Number(answer.headers.get('content-length'));
  expect(sent).toBeLessThan(CLIENT_LIMIT);
  // The figure is that of this very script.
  const script = Buffer.from(await answer.arrayBuffer());
  expect(Math.abs(gzipSync(script, { level: 9 }).length - sent)).toBeLessThan(100);
});

const FAILED = 'This part of the page could not be loaded.';
/** The longest wait before the second attempt. */
const FIRST_WAIT_MS = 1_000;

/**
 * No code can be fetched while `meanwhile` asks for some. Afterwards it can be, but the page's own
 * wait before its next attempt never ends: only a reason to try at once is left.
 */
async function withoutCode(page: Page, meanwhile: () => Promise<unknown>): Promise<void> {
  const path = '**/_next/static/**';
  await page.route(path, (route) => route.abort());
  const real = await page.evaluateHandle((firstWaitMs) => {
    const { random } = Math;
    const { setTimeout } = window;
    Math.random = () => 1;
    const held = (...[run, ms, ...args]: Parameters<typeof setTimeout>) =>
      ms === firstWaitMs ? 0 : setTimeout(run, ms, ...args);
    window.setTimeout = Object.assign(held, setTimeout);
    return { random, setTimeout };
  }, FIRST_WAIT_MS);
  await meanwhile();
  await expect(page.getByText(FAILED)).toBeVisible();
  await page.evaluate(({ random, setTimeout }) => {
    Math.random = random;
    window.setTimeout = setTimeout;
  }, real);
  await page.unroute(path);
}

/** A page that could not fetch the code of its first card. */
async function pageWithoutCards(context: BrowserContext, callboard: Callboard): Promise<Page> {
  const first = await context.newPage();
  await signIn(first, callboard);
  await first.close();
  const page = await context.newPage();
  await holdIdle(page);
  await page.goto(callboard.url);
  await untilReady(page);
  await withoutCode(page, () => invoke(callboard, 'calculation.eval', { expression: '6*7' }));
  return page;
}

test('the first card appears by itself once the network is back', async ({
  context,
  callboard,
}) => {
  const page = await pageWithoutCards(context, callboard);
  await context.setOffline(true);
  await context.setOffline(false);
  await expect(cards(page)).toHaveAttribute('data-status', 'SUCCESS');
  await expect(page.getByText(FAILED)).toBeHidden();
});

test('the first card appears by itself when the server comes back', async ({
  context,
  callboard,
  startServer,
}) => {
  const page = await pageWithoutCards(context, callboard);
  await callboard.stop();
  await startServer({
    dataDir: callboard.dataDir,
    token: callboard.token,
    env: { CALLBOARD_PORT: new URL(callboard.url).port },
  });
  await expect(cards(page)).toHaveAttribute('data-status', 'SUCCESS');
  await expect(page.getByText(FAILED)).toBeHidden();
});

test('code that cannot be fetched says so, and is fetched at once by Try again', async ({
  page,
  callboard,
}) => {
  await signIn(page, callboard);
  await untilReady(page);
  await page.waitForLoadState('networkidle');
  await withoutCode(page, () => page.keyboard.press('?'));
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
});
