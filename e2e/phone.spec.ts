import { invoke } from './contract/kit/calls.ts';
import { expect, test } from './contract/kit/contract-test.ts';
import { outside } from './support/outside-screen.ts';
import {
  cardOf,
  cardsFor,
  composer,
  connection,
  conversation,
  say,
  signIn,
} from './support/workbench.ts';

test.use({ serverOf: 'file' });

test.use({
  viewport: { width: 390, height: 844 },
  isMobile: true,
  hasTouch: true,
  deviceScaleFactor: 2,
});

test('on a phone one talks on one tab and watches on the other', async ({ page, callboard }) => {
  await signIn(page, callboard);
  const tabs = page.getByRole('tablist', { name: 'Parts of the workbench' });
  await expect(tabs.getByRole('tab', { name: 'Chat' })).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByRole('tabpanel', { name: 'Live' })).toBeHidden();
  await expect(page.getByText(/^This tab offers \d+ tools:/)).toBeVisible();
  await say(page, '(2+3)*4');
  await expect(conversation(page)).toContainText('rules, not an LLM');

  await tabs.getByRole('tab', { name: 'Live' }).tap();
  await expect(composer(page)).toBeHidden();
  const card = cardsFor(page, 'calculation.eval');
  await expect(card).toContainText('20');
  const menu = card.getByRole('button', { name: 'More for calculation.eval' });
  expect((await menu.boundingBox())?.height).toBeGreaterThanOrEqual(44);
  await menu.tap();
  await page.getByRole('menuitem', { name: 'Retry' }).tap();
  await expect(cardsFor(page, 'calculation.eval')).toHaveCount(2);

  await tabs.getByRole('tab', { name: 'Chat' }).tap();
  await page.getByTestId('call-line').tap();
  await expect(tabs.getByRole('tab', { name: 'Live' })).toHaveAttribute('aria-selected', 'true');
  await expect(card.last()).toBeFocused();
});

test('no page is wider than a narrow phone', async ({ page, callboard, connect }) => {
  const long = `${'a'.repeat(40)}.${'b'.repeat(20)}`;
  const program = await connect.client(callboard, { tools: [long, 'tide.table'] });
  await signIn(page, callboard);
  const failed = await invoke(callboard, long, { key: 'x'.repeat(300) });
  await program.request();
  program.fail(failed, `/a/very/long/path/${'y'.repeat(300)}`);
  const table = await invoke(callboard, 'tide.table');
  await program.request();
  const row = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`column_${at}`, 'value']));
  program.succeed(table, [row, row]);
  await say(page, `${'z'.repeat(200)} $position`);

  const width = 320;
  await page.setViewportSize({ width, height: 844 });
  for (const path of [
    '/',
    '/tools',
    '/tools?tool=database.query',
    `/tools?tool=${long}`,
    '/approvals',
    '/settings/access',
    '/settings/policy',
    '/docs',
    '/no-such-page',
  ]) {
    await page.goto(callboard.url + path);
    await expect(connection(page)).toHaveAttribute('data-state', 'connected');
    await expect(page.getByRole('heading', { level: 1 })).toBeAttached();
    await page.waitForLoadState('networkidle');
    expect(await outside(page), `${path} at ${width}`).toEqual([]);
  }
  await page.goto(callboard.url);
  await page.getByRole('tab', { name: 'Live' }).click();
  await expect(cardOf(page, failed)).toBeVisible();
  await expect(cardOf(page, table)).toBeVisible();
  expect(await outside(page), `the cards at ${width}`).toEqual([]);
  await page.context().clearCookies();
  await page.goto(callboard.url);
  await expect(page.getByLabel('Token', { exact: true })).toBeVisible();
  expect(await outside(page), '/sign-in').toEqual([]);
});
