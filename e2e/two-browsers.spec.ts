import type { Browser, Page } from '@playwright/test';
import { finalCall, invoke } from './contract/kit/calls.ts';
import { expect, test } from './fixtures.ts';
import type { Callboard } from './start-callboard.ts';
import {
  callIdOf,
  cardOf,
  cardsFor,
  chooseInMenu,
  composer,
  conversation,
  say,
  signIn,
  signInByToken,
  untilReady,
} from './support/workbench.ts';

/** Another browser with nothing in common with the first, visible like it. */
async function otherBrowser(browser: Browser, callboard: Callboard): Promise<Page> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await signInByToken(page, callboard);
  await untilReady(page);
  return page;
}

/** Who a page is to the server, once it has its welcome. */
async function clientIdOf(page: Page): Promise<string> {
  const known = await page.waitForFunction(
    () => JSON.parse(sessionStorage.getItem('callboard:client') ?? '{}').clientId,
  );
  return known.jsonValue();
}

const callLines = (page: Page) => conversation(page).getByTestId('call-line');

/** Asks in words, and gives who took the screenshot. */
async function screenshotFor(page: Page, callboard: Callboard) {
  const before = await callLines(page).count();
  await say(page, 'Take a screenshot of this page');
  await expect(callLines(page)).toHaveCount(before + 1);
  const id = (await callLines(page).last().getAttribute('data-call-id')) ?? '';
  const { status, client_id } = await finalCall(callboard, id);
  expect(status).toBe('SUCCEEDED');
  await expect(page.getByTestId('run-status')).toBeHidden();
  return client_id;
}

test('of two visible browsers the one in which a person asks acts, each time', async ({
  page,
  browser,
  callboard,
}) => {
  await signIn(page, callboard);
  await untilReady(page);
  const other = await otherBrowser(browser, callboard);
  const [mine, theirs] = [await clientIdOf(page), await clientIdOf(other)];
  expect(theirs).not.toBe(mine);
  for (let time = 0; time < 3; time += 1) {
    // Whatever the other one answers, a message that is typed here is for this one.
    const named = await invoke(callboard, 'device.info', {}, { client: theirs });
    expect((await finalCall(callboard, named)).client_id).toBe(theirs);
    expect(await screenshotFor(page, callboard)).toBe(mine);
  }
  expect(await screenshotFor(other, callboard)).toBe(theirs);
  expect(await screenshotFor(page, callboard)).toBe(mine);
  await other.context().close();
});

test('a call that was asked for in no browser goes to the one that was touched last', async ({
  page,
  browser,
  callboard,
}) => {
  await signIn(page, callboard);
  await untilReady(page);
  const other = await otherBrowser(browser, callboard);
  const asked = async () =>
    (await finalCall(callboard, await invoke(callboard, 'device.info'))).client_id;
  for (const touched of [page, other, page]) {
    const id = await clientIdOf(touched);
    // A touch is on its way, and an earlier one of the other browser may be; what is answered is no touch.
    await expect(async () => {
      await composer(touched).click();
      expect(await asked()).toBe(id);
      expect(await asked()).toBe(id);
    }).toPass();
  }
  await other.context().close();
});

test('what is tried on the page of tools, and what is retried there, is asked of that browser', async ({
  page,
  browser,
  callboard,
}) => {
  await signIn(page, callboard);
  await untilReady(page);
  const other = await otherBrowser(browser, callboard);
  const [mine, theirs] = [await clientIdOf(page), await clientIdOf(other)];
  await page.goto(`${callboard.url}/tools?tool=device.info`);
  const card = cardsFor(page, 'device.info').first();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(card).toHaveAttribute('data-status', 'SUCCESS');
  const first = await callIdOf(card);
  expect((await finalCall(callboard, first)).client_id).toBe(mine);
  await other.goto(callboard.url);
  await untilReady(other);
  await chooseInMenu(other, cardOf(other, first), 'Retry');
  await expect(cardsFor(other, 'device.info')).toHaveCount(2);
  const second = cardsFor(other, 'device.info').first();
  await expect(second).toHaveAttribute('data-status', 'SUCCESS');
  expect((await finalCall(callboard, await callIdOf(second))).client_id).toBe(theirs);
  await other.context().close();
});
