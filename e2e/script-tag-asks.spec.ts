import type { Page } from '@playwright/test';
import { test as base, expect } from './fixtures.ts';
import type { Callboard } from './start-callboard.ts';
import { startOutside } from './support/outside.ts';

const TOOLS = `
callboard.tool({
  name: 'cart.add',
  description: 'Puts an article into the cart',
  parameters: { type: 'object', properties: { article: { type: 'string' } } },
  annotations: { readOnlyHint: true },
  execute: ({ article }) => window.held ? held.then(() => ({ article })) : { article },
});`;

interface Shop {
  readonly origin: string;
  open(page: Page): Promise<void>;
}

/** A third party's page on another port, which the configuration does not name. */
const test = base.extend<{ shop: Shop }>({
  shop: async ({ callboard }, use) => {
    const html = `<!doctype html><html lang="en"><title>A shop</title>
<script src="${callboard.url}/client.js" data-name="Shop"></script>
<body><button>Buy</button><script>${TOOLS}</script>`;
    const { url: origin, close } = await startOutside(html);
    await use({ origin, open: async (page) => void (await page.goto(origin)) });
    await close();
  },
});

const status = (page: Page) =>
  expect.poll(() => page.evaluate<string>('callboard.status.get()'), { timeout: 20_000 });
const request = (page: Page) => page.getByTestId('pairing-request');
const card = (page: Page) => page.getByRole('article', { name: 'Shop' }).first();

const call = (board: Callboard, name = 'cart.add') =>
  board.http('POST', `/v1/tools/${name}/invoke`, {
    ...{ run_id: 'run_shop', args: { article: 'Tea' }, wait_ms: 20_000 },
  });

async function pairings(board: Callboard): Promise<number> {
  const { body } = await board.http('GET', '/v1/pairings');
  return (body as { pairings: unknown[] }).pairings.length;
}

/** A page of the shop, in the person's own browser, that the person lets in. */
async function openAndLetIn(workbench: Page, board: Callboard, shop: Shop): Promise<Page> {
  const page = await workbench.context().newPage();
  await shop.open(page);
  await workbench.goto(`${board.url}/devices`);
  await request(workbench).getByRole('button', { name: 'Let it in' }).click();
  await status(page).toBe('registered');
  return page;
}

test('[PG20] [PG21] [PG27] a page asks, is let in, is called, comes back, and offers a tool later', async ({
  signedInPage: workbench,
  callboard: board,
  shop,
}) => {
  const page = await workbench.context().newPage();
  await shop.open(page);
  await status(page).toBe('asking');
  await workbench.goto(`${board.url}/devices`);
  await expect(request(workbench)).toContainText(shop.origin);
  await expect(request(workbench)).toContainText('cart.add');
  // A second page of the shop waits for the same decision.
  const second = await workbench.context().newPage();
  await shop.open(second);
  await status(second).toBe('asking');
  expect(await pairings(board)).toBe(1);
  await request(workbench).getByRole('button', { name: 'Let it in' }).click();
  await status(page).toBe('registered');
  await status(second).toBe('registered');
  await second.close();

  await page.evaluate('window.held = new Promise((done) => { window.release = done }); undefined');
  const answer = call(board);
  await expect(page.locator('callboard-badge section')).toContainText('cart.add');
  await page.evaluate('release()');
  expect((await answer).body).toMatchObject({ status: 'SUCCEEDED', result: { article: 'Tea' } });

  await page.reload();
  await status(page).toBe('registered');
  expect(await pairings(board)).toBe(1);
  expect((await call(board)).body).toMatchObject({ status: 'SUCCEEDED' });

  const line = page.waitForEvent('console', { predicate: (one) => one.type() === 'info' });
  await page.evaluate(`callboard.tool({ name: 'cart.clear', description: 'Empties the cart',
    annotations: { readOnlyHint: true }, execute: () => 'empty' }); undefined`);
  expect((await line).text()).toContain('a person has to allow cart.clear');
  await status(page).toBe('registered');
  const waiting = card(workbench).getByTestId('waiting-tool');
  await waiting.getByRole('button', { name: 'Allow cart.clear' }).click();
  await expect(waiting).toHaveCount(0);
  expect((await call(board, 'cart.clear')).body).toMatchObject({ result: 'empty' });
});

test('[PG28] [DV23] T04: the cookie of a person who is signed in on the same host opens nothing to the page', async ({
  signedInPage: workbench,
  callboard: board,
  shop,
}) => {
  const page = await openAndLetIn(workbench, board, shop);
  const cookies = await workbench.context().cookies(shop.origin);
  expect(cookies.length).toBeGreaterThan(0);
  const reached = await page.evaluate(async (url) => {
    const read = (path: string) =>
      fetch(url + path, { credentials: 'include' }).then(
        ({ status }) => String(status),
        () => 'closed',
      );
    const socket = (path: string) =>
      new Promise((done) => {
        const ws = new WebSocket(url.replace('http', 'ws') + path, ['callboard.v1']);
        ws.onopen = () => done('open');
        ws.onclose = () => done('closed');
      });
    return Promise.all([
      ...['/v1/me', '/v1/devices', '/v1/tool_calls', '/api/tools'].map(read),
      ...['/ws/client', '/ws/watch'].map(socket),
    ]);
  }, board.url);
  expect(reached.filter((one) => one !== 'closed' && one !== '403')).toEqual([]);
});

test('[PG20] [DV23] where no socket opens the page is a client by requests, and may upload', async ({
  signedInPage: workbench,
  callboard: board,
  shop,
}) => {
  const page = await workbench.context().newPage();
  await page.addInitScript(`window.WebSocket = class extends EventTarget {
    constructor() { super(); setTimeout(() => this.dispatchEvent(new CloseEvent('close', { code: 1006 }))); }
    close() {}
  };`);
  await shop.open(page);
  await workbench.goto(`${board.url}/devices`);
  await request(workbench).getByRole('button', { name: 'Let it in' }).click();
  await status(page).toBe('registered');
  expect((await call(board)).body).toMatchObject({
    status: 'SUCCEEDED',
    result: { article: 'Tea' },
  });
  const uploaded = await page.evaluate(async (url) => {
    const token = localStorage.getItem(`callboard:device@${url}`);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/plain' };
    return (await fetch(`${url}/v1/blobs`, { method: 'POST', headers, body: 'hello' })).json();
  }, board.url);
  expect(uploaded).toMatchObject({ blob_id: expect.any(String) });
});
