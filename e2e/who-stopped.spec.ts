import { get } from './contract/kit/ask.ts';
import { asToken, makeToken } from './contract/kit/tokens.ts';
import { reader } from './contract/kit/tool-client.ts';
import { expect, test } from './support/scripted-run.ts';
import {
  cardOf,
  cardsFor,
  chooseInMenu,
  conversation,
  notice,
  say,
  signIn,
  signInByToken,
  untilReady,
} from './support/workbench.ts';

test('who cancelled a call, and who stopped a run, is on the card, in the notice and in the audit', async ({
  page,
  browser,
  startScripted,
  connect,
}) => {
  const { board } = await startScripted('chat', ({ index }) =>
    index === 0 ? { calls: [{ name: 'slow_one', args: {} }] } : { text: 'Stopped early.' },
  );
  const program = await connect.client(board, { tools: [reader('slow.one')] });
  await signIn(page, board);
  await untilReady(page);
  await say(page, 'Do it slowly');
  await program.request();
  const olga = await makeToken(board, { kind: 'operator', name: 'olga', role: 'operator' });
  const other = await (await browser.newContext()).newPage();
  await expect(page).toHaveURL(/\?run=/);
  const run = new URL(page.url()).search;
  await signInByToken(other, asToken(board, olga), `/${run}`);
  await other.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(notice(page, 'cancelled')).toHaveText('Stopped by olga.');
  await expect(cardsFor(page, 'slow.one').first()).toContainText('Cancelled by olga.');
  await expect(notice(page, 'cancelled')).toHaveCount(1);
  await expect(conversation(page)).not.toContainText('operator:olga');

  const card = cardsFor(other, 'slow.one').first();
  await card.getByRole('button', { name: /^More for/ }).click();
  await other.getByRole('menuitem', { name: /^Retry/ }).click();
  const { id } = await program.request();
  const again = cardOf(other, id);
  await expect(again).toHaveAttribute('data-status', 'DOING');
  await chooseInMenu(other, again, 'Cancel');
  await expect(again).toContainText('Cancelled by olga.', { timeout: 15_000 });

  await page.goto(`${board.url}/settings/audit?actor=operator%3Aolga`);
  const entries = page.getByTestId('audit-entry');
  await expect(entries.filter({ hasText: 'stopped a run' })).toHaveCount(1);
  await expect(entries.filter({ hasText: 'retried a call' })).toHaveCount(1);
  await entries.filter({ hasText: 'cancelled a call' }).getByRole('link', { name: /^tc_/ }).click();
  await expect(cardsFor(page, 'slow.one').first()).toBeVisible();
  const { body } = await get(board, '/v1/audit?act=run_started');
  expect(body).toMatchObject({ entries: [{ actor: 'operator', detail: {} }] });
});
