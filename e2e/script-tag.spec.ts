import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { test as base, expect } from './fixtures.ts';
import type { Callboard } from './start-callboard.ts';
import { configFile } from './support/config-file.ts';
import { startOutside } from './support/outside.ts';

/** A shop's page may do this to everything in it, the badge too if that could be. */
const HOSTILE_STYLE = `
* { display: none !important; color: red !important; font-size: 50px !important }
html, body, main, button { display: block !important }
callboard-badge { display: none !important; position: static !important; opacity: 0 !important }
`;

const TOOLS = `
window.aborted = [];
callboard.tool({
  name: 'cart.add',
  description: 'Puts an article into the cart',
  parameters: { type: 'object', properties: { article: { type: 'string' } } },
  execute: ({ article }, { requestedBy }) => ({ article, requestedBy, page: window.name }),
});
callboard.tool({
  name: 'cart.hold',
  description: 'Holds the cart until it is stopped, and longer',
  parameters: { type: 'object', properties: {} },
  execute: (_args, { signal }) =>
    new Promise(() => signal.addEventListener('abort', () => aborted.push(signal.reason.code))),
});
`;

interface Shop {
  readonly board: Callboard;
  readonly origin: string;
  /** Opens the page with these attributes of its tag. */
  open(page: Page, attributes?: string): Promise<void>;
}

/** A third party's page on another port, whose origin the server lets in. */
const test = base.extend<{ shop: Shop }>({
  shop: async ({ startServer }, use, testInfo) => {
    let html = '';
    const policy = { 'content-security-policy': "style-src 'nonce-shop'" };
    const { url: origin, close } = await startOutside(() => html, policy);
    const config = await configFile(testInfo, { allowed_origins: [origin] });
    const board = await startServer({ env: { CALLBOARD_CONFIG: config } });
    await use({
      board,
      origin,
      async open(page, attributes = `data-name="Shop" data-token="${board.token}"`) {
        html = `<!doctype html><html lang="en"><title>A shop</title>
<style nonce="shop">${HOSTILE_STYLE}</style>
<script src="${board.url}/client.js" ${attributes}></script>
<body><main><button id="own">Buy</button></main><script>${TOOLS}</script>`;
        await page.goto(origin);
      },
    });
    await close();
  },
});

const RUN = { run_id: 'run_shop' };

async function untilOffered({ board }: Shop): Promise<void> {
  const names = async () => {
    const { body } = await board.http('GET', '/v1/tools');
    return (body as { tools: { name: string }[] }).tools.map(({ name }) => name);
  };
  await expect.poll(names).toEqual(expect.arrayContaining(['cart.add', 'cart.hold']));
}

/** Begins a call that ends by a stop alone; gives its id. */
async function hold({ board }: Shop): Promise<string> {
  const { body } = await board.http('POST', '/v1/tools/cart.hold/invoke', { ...RUN, args: {} });
  return (body as { tool_call_id: string }).tool_call_id;
}

const badge = (page: Page) => page.locator('callboard-badge section');

test('a page of another origin offers tools by one tag, and is called', async ({ page, shop }) => {
  await shop.open(page);
  await untilOffered(shop);
  const body = { ...RUN, args: { article: 'Tea' }, wait_ms: 10_000 };
  expect((await shop.board.http('POST', '/v1/tools/cart.add/invoke', body)).body).toMatchObject({
    ...{ status: 'SUCCEEDED', result: { article: 'Tea', requestedBy: 'operator' } },
    card: { client_name: 'Shop' },
  });
  // Shown while it ran, and not any more.
  await expect(badge(page)).toBeHidden();
});

test('[BA1] [BA2] [BA4] while a tool runs a badge says who calls it; Stop ends the call as cancelled', async ({
  page,
  shop,
}) => {
  await shop.open(page);
  await untilOffered(shop);
  await expect(page.locator('callboard-badge')).toHaveCount(0);
  const id = await hold(shop);
  await expect(badge(page)).toContainText('An operator is using cart.hold');
  // No rule of the page reaches it, and it has its own in spite of the page's policy for styles.
  const look = await badge(page).evaluate((section) => {
    const host = (section.getRootNode() as ShadowRoot).host;
    const { position, opacity, display } = getComputedStyle(host);
    const { fontSize, color } = getComputedStyle(section);
    return { position, opacity, display, fontSize, color };
  });
  expect(look).toMatchObject({ position: 'fixed', opacity: '1', fontSize: '14px' });
  expect(look.display).not.toBe('none');
  expect(look.color).not.toBe('rgb(255, 0, 0)');
  const axe = new AxeBuilder({ page }).setLegacyMode().include('callboard-badge');
  expect((await axe.analyze()).violations).toEqual([]);
  await badge(page).getByRole('button', { name: 'Stop cart.hold' }).click();
  const ended = await shop.board.http('GET', `/v1/tool_calls/${id}?wait_ms=10000`);
  expect(ended.body).toMatchObject({
    status: 'FAILED',
    error: {
      ...{ code: 'cancelled', executed: 'unknown' },
      message: 'The person at this page stopped it.',
    },
  });
  await expect(badge(page)).toBeHidden();
  expect(await page.evaluate(() => Reflect.get(window, 'aborted'))).toEqual(['cancelled']);
});

test('[BA3] the button is reached by the keyboard, which goes back', async ({ page, shop }) => {
  await shop.open(page);
  await untilOffered(shop);
  const id = await hold(shop);
  await expect(badge(page)).toBeVisible();
  await page.locator('#own').focus();
  await page.keyboard.press('Tab');
  await expect(badge(page).getByRole('button')).toBeFocused();
  await page.keyboard.press('Enter');
  const ended = await shop.board.http('GET', `/v1/tool_calls/${id}?wait_ms=10000`);
  expect(ended.body).toMatchObject({ error: { code: 'cancelled' } });
  await expect(page.locator('#own')).toBeFocused();
});
