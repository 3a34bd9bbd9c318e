import type { Page } from '@playwright/test';
import { finalCall, invoke, readCall } from './contract/kit/calls.ts';
import { spec } from './contract/kit/tool-client.ts';
import { expect, test } from './support/asking-board.ts';
import { cardOf, cards, cardsFor, connection, signIn } from './support/workbench.ts';

test('a program that never answers times out on its card, and Retry is a new call', async ({
  page,
  callboard,
  connect,
}) => {
  const program = await connect.client(callboard, {
    hello: { name: 'Tide gauge', kind: 'program' },
    tools: [spec('tide.read', { timeout_ms: 4_000 })],
  });
  await signIn(page, callboard);
  const first = await invoke(callboard, 'tide.read', { place: 'Cuxhaven' });
  const card = cardOf(page, first);
  await expect(card.getByTestId('status-chip')).toHaveText('Running');
  await expect(card).toContainText('Tide gauge');
  await expect(card).toHaveAttribute('data-status', 'ERROR');
  await expect(card.getByTestId('status-chip')).toHaveText('Timed out');
  await expect(card).toContainText('No answer within 4 s.');
  await expect(card).toContainText('It may have run. Check before you repeat it.');
  await expect(card).toContainText('timeout (execute)');

  await card.getByRole('button', { name: 'Retry (may run twice)' }).click();
  await expect(cards(page)).toHaveCount(2);
  const again = cardsFor(page, 'tide.read').first();
  await expect(again).toContainText(`Retry of ${first}`);
  await program.request();
  const { id, args } = await program.request();
  expect(args).toEqual({ place: 'Cuxhaven' });
  program.succeed(id, 'high');
  await expect(again).toHaveAttribute('data-status', 'SUCCESS');
  await expect(card).toHaveAttribute('data-status', 'ERROR');
  expect(await readCall(callboard, id)).toMatchObject({ retry_of: first, result: 'high' });
  await again.getByRole('link', { name: `Retry of ${first}` }).click();
  await expect(card).toBeFocused();
});

test('Cancel on a card reaches the program, whose answer ends the call', async ({
  page,
  callboard,
  connect,
}) => {
  const program = await connect.client(callboard, {
    hello: { name: 'Tide gauge', kind: 'program', caps: ['cancel'] },
    tools: ['tide.read'],
  });
  await signIn(page, callboard);
  const id = await invoke(callboard, 'tide.read');
  const card = cardOf(page, id);
  await expect(card).toHaveAttribute('data-status', 'DOING');
  await card.getByRole('button', { name: 'Cancel' }).click();
  expect(await program.next('tool_call_cancel')).toMatchObject({ id });
  await expect(card).toHaveAttribute('data-phase', 'cancelling');
  await expect(card).toContainText('Asked Tide gauge to stop');
  program.fail(id, 'stopped', { code: 'cancelled' });
  await expect(card.getByTestId('status-chip')).toHaveText('Cancelled');
  expect(await finalCall(callboard, id)).toMatchObject({ error: { code: 'cancelled' } });
});

test('progress, words and a preview appear on the card while the program works', async ({
  page,
  callboard,
  connect,
}) => {
  const program = await connect.client(callboard, { tools: ['tide.read'] });
  await signIn(page, callboard);
  const id = await invoke(callboard, 'tide.read', { place: 'Cuxhaven' });
  await program.request();
  const card = cardOf(page, id);
  program.send({
    type: 'tool_status',
    id,
    tip: 'Reading the gauge',
    progress: { done: 3, total: 4 },
    preview: { level: '2.1 m' },
  });
  await expect(card).toContainText('Reading the gauge');
  await expect(card.getByRole('progressbar')).toHaveAttribute('aria-valuenow', '75');
  await expect(card).toContainText('2.1 m');
  program.succeed(id, 'the model reads this', { display: { level: '2.4 m' } });
  await expect(card).toHaveAttribute('data-status', 'SUCCESS');
  await expect(card).toContainText('2.4 m');
  await expect(card).not.toContainText('the model reads this');
  expect(await readCall(callboard, id)).toMatchObject({ result: 'the model reads this' });
});

test.describe('with a policy that asks', () => {
  test('[CD26] a list that is scrolled away or filtered shows that an approval waits, and leads to it', async ({
    page,
    startAsking,
  }) => {
    const { board: callboard, program } = await startAsking(['gate.open', 'tide.read']);
    await signIn(page, callboard);
    for (let count = 0; count < 12; count += 1) {
      const id = await invoke(callboard, 'tide.read');
      await program.request();
      program.succeed(id, 'low');
    }
    await expect(page.getByText('12 calls loaded · 0 active')).toBeVisible();
    const pill = page.getByTestId('fresh-calls');
    await scrollAway(page);
    await invoke(callboard, 'tide.read');
    await expect(pill).toHaveText('1 new call');
    const asked = await invoke(callboard, 'gate.open', { gate: 2 });
    await expect(pill).toHaveText('2 new calls, 1 needs approval');
    await expect(
      page.getByRole('alert').filter({ hasText: 'gate.open needs approval' }),
    ).toBeAttached();
    await pill.click();
    await expect(cardOf(page, asked)).toBeFocused();
    await expect(pill).toBeHidden();

    await page.getByRole('combobox', { name: 'Which calls' }).selectOption('Failed');
    await expect(pill).toHaveText('1 call needs approval');
    await pill.press('Enter');
    await expect(cardOf(page, asked)).toBeFocused();
    await page.keyboard.press('d');
    await page.keyboard.press('Enter');
    await expect(cardOf(page, asked).getByTestId('status-chip')).toHaveText('Denied');
    await expect(pill).toBeHidden();
  });

  test('a person allows one call and denies another, by the keyboard alone', async ({
    page,
    startAsking,
  }) => {
    const { board: callboard, program } = await startAsking();
    await signIn(page, callboard);
    await expect(connection(page)).toContainText('Connected');

    const first = await invoke(callboard, 'gate.open', { gate: 2 });
    const card = cardOf(page, first);
    await expect(card.getByTestId('status-chip')).toHaveText('Needs approval');
    await expect(card).toContainText('"gate": 2');
    await expect(
      page.getByRole('alert').filter({ hasText: 'gate.open needs approval' }),
    ).toBeAttached();
    await page.keyboard.press('j');
    await expect(card).toBeFocused();
    await page.keyboard.press('a');
    await expect(card.getByRole('button', { name: 'Allow once' })).toBeFocused();
    expect(program.all('tool_call_request')).toEqual([]);
    await page.keyboard.press('Enter');
    program.succeed((await program.request()).id, 'open');
    await expect(card).toHaveAttribute('data-status', 'SUCCESS');

    const second = await invoke(callboard, 'gate.open', { gate: 3 });
    const denied = cardOf(page, second);
    await expect(denied.getByTestId('status-chip')).toHaveText('Needs approval');
    await page.keyboard.press('k');
    await expect(denied).toBeFocused();
    await page.keyboard.press('d');
    await page.keyboard.press('Enter');
    await expect(denied.getByTestId('status-chip')).toHaveText('Denied');
    await expect(denied).toContainText('It did not run.');
    await program.settled();
    expect(program.all('tool_call_request')).toHaveLength(1);
    expect(await readCall(callboard, second)).toMatchObject({
      status: 'FAILED',
      error: { code: 'denied', executed: 'no' },
    });
  });
});

test('a filter shows what it names, whatever was held back while the list was scrolled', async ({
  page,
  callboard,
  connect,
}) => {
  const program = await connect.client(callboard, { tools: ['tide.read'] });
  await signIn(page, callboard);
  for (let count = 0; count < 12; count += 1) {
    const id = await invoke(callboard, 'tide.read');
    await program.request();
    program.succeed(id, 'low');
  }
  await expect(page.getByText('12 calls loaded · 0 active')).toBeVisible();
  await scrollAway(page);
  const open = await invoke(callboard, 'tide.read');
  await expect(page.getByTestId('fresh-calls')).toHaveText('1 new call');
  const filter = page.getByRole('combobox', { name: 'Which calls' });
  await filter.selectOption('Active');
  await expect(cardOf(page, open)).toBeVisible();
  await expect(cards(page)).toHaveCount(1);
  await filter.selectOption('All');
  await expect(cards(page).first()).toHaveAttribute('data-call-id', open);
  await expect(page.getByTestId('fresh-calls')).toBeHidden();
});

/** Until the newest card is out of view: a wheel that turns before the list has its height moves nothing. */
async function scrollAway(page: Page): Promise<void> {
  const newest = (await cards(page).first().getAttribute('data-call-id')) ?? '';
  await cards(page).first().hover();
  await expect(async () => {
    await page.mouse.wheel(0, 600);
    await expect(cardOf(page, newest)).not.toBeInViewport({ timeout: 1_000 });
  }).toPass();
}
