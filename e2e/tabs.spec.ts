import type { Page } from '@playwright/test';
import { finalCall, invoke } from './contract/kit/calls.ts';
import { expect, test } from './contract/kit/contract-test.ts';
import { spec } from './contract/kit/tool-client.ts';
import { wholeChromium } from './support/browsers.ts';
import { cardOf, cards, connection, signIn, untilReady } from './support/workbench.ts';

// The headless shell captures no tab.
test.use({ launchOptions: wholeChromium });

/** The attributes of each card, newest first. */
const shown = (page: Page) =>
  cards(page).evaluateAll((all) =>
    all.map((card) =>
      card instanceof HTMLElement
        ? [card.dataset.callId, card.dataset.status, card.dataset.phase, card.dataset.seq]
        : [],
    ),
  );

const GAUGE = { name: 'Tide gauge', kind: 'program', caps: ['claim', 'cancel'] };
const READ_ONLY = spec('tide.read', { annotations: { readOnlyHint: true } });

test('two tabs show the same cards, also those of calls from elsewhere', async ({
  page,
  context,
  callboard,
  connect,
}) => {
  const program = await connect.client(callboard, { tools: ['tide.read'] });
  await signIn(page, callboard);
  const other = await context.newPage();
  await other.goto(callboard.url);
  await expect(connection(other)).toContainText('3 clients');

  const done = await invoke(callboard, 'tide.read');
  program.succeed((await program.request()).id, 'high');
  const failed = await invoke(callboard, 'tide.read');
  await program.request();
  program.fail(failed, 'the gauge is dry');
  const running = await invoke(callboard, 'tide.read');
  await program.request();
  program.send({ type: 'tool_status', id: running, tip: 'Reading', progress: { done: 1 } });
  for (const tab of [page, other]) {
    await expect(cards(tab)).toHaveCount(3);
    await expect(cardOf(tab, done)).toHaveAttribute('data-status', 'SUCCESS');
    await expect(cardOf(tab, failed)).toContainText('the gauge is dry');
    await expect(cardOf(tab, running)).toContainText('Reading');
  }
  expect(await shown(other)).toEqual(await shown(page));
});

test('a reload in mid-call shows the same card, and the reloaded tab finishes the call', async ({
  page,
  callboard,
}) => {
  await signIn(page, callboard);
  await untilReady(page);
  const id = await invoke(callboard, 'browser.screenshot', { mode: 'display' });
  await expect(page.getByTestId('device-prompt')).toBeVisible();
  await page.reload();
  await expect(cards(page)).toHaveCount(1);
  await expect(cardOf(page, id)).toHaveAttribute('data-status', 'DOING');
  await page.getByTestId('device-prompt').getByRole('button', { name: 'Allow' }).click();
  await expect(cardOf(page, id)).toHaveAttribute('data-status', 'SUCCESS');
  expect(await finalCall(callboard, id)).toMatchObject({ status: 'SUCCEEDED' });
});

test('over a restart of the server the page says how it stands, and the call goes on', async ({
  page,
  callboard,
  startServer,
  connect,
}) => {
  const before = await connect.client(callboard, { hello: GAUGE, tools: [READ_ONLY] });
  await signIn(page, callboard);
  const done = await invoke(callboard, 'calculation.eval', { expression: '6*7' });
  await finalCall(callboard, done);
  const id = await invoke(callboard, 'tide.read', {}, { timeout_ms: 300_000 });
  await before.claim(await before.request());
  const card = cardOf(page, id);
  await expect(card.getByTestId('status-chip')).toHaveText('Running');

  await callboard.stop();
  await expect(connection(page)).toContainText('Reconnecting…');
  await expect(connection(page).getByRole('button', { name: 'Retry now' })).toBeVisible();
  await expect(card).toHaveAttribute('data-stale', '');
  await expect(card.getByTestId('card-time')).toContainText('(counted here; offline since');
  const shown = await card.getByTestId('card-time').textContent();
  await expect(card.getByTestId('card-time')).not.toHaveText(shown ?? '');
  await expect(page.getByText('cards show the last known state')).toBeVisible();

  const { port } = new URL(callboard.url);
  const again = await startServer({
    dataDir: callboard.dataDir,
    token: callboard.token,
    env: { CALLBOARD_PORT: port },
  });
  await expect(connection(page)).toContainText('Connected', { timeout: 20_000 });
  await expect(page.getByText('Connected again.').first()).toBeVisible();
  await expect(cards(page)).toHaveCount(2);
  await expect(cardOf(page, done)).toHaveAttribute('data-status', 'SUCCESS');
  await expect(card.getByTestId('status-chip')).toHaveText('Client away');

  const { client_id, resume_token } = before.welcome;
  const after = await connect.client(again, {
    hello: { ...GAUGE, client_id, resume_token },
    tools: [READ_ONLY],
  });
  const request = await after.request();
  expect(request).toMatchObject({ id, attempt: 2 });
  await after.claim(request);
  after.succeed(id, 'high', { attempt: 2 });
  await expect(card).toHaveAttribute('data-status', 'SUCCESS');
  await expect(card).toContainText('attempt 2');
});
