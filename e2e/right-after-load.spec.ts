import type { Page } from '@playwright/test';
import { finalCall } from './contract/kit/calls.ts';
import { expect, test } from './fixtures.ts';
import {
  callIdOf,
  cardsFor,
  composer,
  connection,
  conversation,
  say,
  signIn,
  signInByToken,
  untilReady,
} from './support/workbench.ts';

test.use({ serverOf: 'file' });

/** In sight, not only announced. */
const connecting = (page: Page) => page.getByRole('main').getByText('Connecting this tab…');

/** Keeps what the next pages say of their tools from the server until it is released. */
async function holdRegistrations(page: Page): Promise<() => void> {
  const held = Promise.withResolvers<void>();
  await page.routeWebSocket(/\/ws\/client$/, (socket) => {
    const server = socket.connectToServer();
    let last = Promise.resolve();
    socket.onMessage((message) => {
      if (String(message).includes('"register_tools"')) last = held.promise;
      last = last.then(() => server.send(message));
    });
  });
  return () => held.resolve();
}

test('a message sent before this tab is registered waits for it, and more can be typed', async ({
  page,
  callboard,
}) => {
  await signIn(page, callboard);
  const release = await holdRegistrations(page);
  await page.goto(callboard.url);
  await say(page, 'Take a screenshot of this page');
  await expect(connecting(page)).toBeVisible();
  await expect(page.getByText('This tab offers')).toBeHidden();
  await composer(page).press('End');
  await composer(page).pressSequentially(' and then?');
  release();
  await expect(cardsFor(page, 'browser.screenshot')).toHaveAttribute('data-status', 'SUCCESS');
  await expect(conversation(page)).toContainText('Take a screenshot of this page');
  await expect(connecting(page)).toBeHidden();
  await expect(composer(page)).toHaveValue('and then?');
});

test('a message sent right after the page has loaded reaches the tools of this tab, each time', async ({
  page,
  callboard,
}) => {
  await signIn(page, callboard);
  for (let time = 1; time <= 3; time += 1) {
    await page.goto(callboard.url);
    await say(page, 'Take a screenshot of this page');
    const line = conversation(page).getByTestId('call-line');
    await expect(line).toContainText('browser.screenshot');
    await expect(line).toContainText('Done');
  }
});

test('Run pressed before this tab is registered is for this tab, though another one offers the tool', async ({
  page,
  browser,
  callboard,
}) => {
  const context = await browser.newContext();
  const other = await context.newPage();
  await signIn(other, callboard);
  await untilReady(other);
  await signInByToken(page, callboard);
  const release = await holdRegistrations(page);
  await page.goto(`${callboard.url}/tools?tool=device.info`);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(connecting(page)).toBeVisible();
  release();
  const card = cardsFor(page, 'device.info');
  await expect(card).toHaveAttribute('data-status', 'SUCCESS');
  const mine = await page.evaluate(
    () => JSON.parse(sessionStorage.getItem('callboard:client') ?? '{}').clientId,
  );
  expect((await finalCall(callboard, await callIdOf(card))).client_id).toBe(mine);
  await context.close();
});

test('a tab whose registration is refused sends all the same', async ({ page, callboard }) => {
  await signIn(page, callboard);
  await page.routeWebSocket(/\/ws\/client$/, (socket) => void socket.close({ code: 1013 }));
  await page.goto(callboard.url);
  await expect(connection(page)).toHaveAttribute('data-state', 'connected');
  await say(page, '(2+3)*4');
  await expect(conversation(page)).toContainText('20');
});
