import type { Page } from '@playwright/test';
import { invoke, readCall } from './contract/kit/calls.ts';
import { expect, test } from './support/asking-board.ts';
import { cardOf, cards, composer, signIn } from './support/workbench.ts';

/** Sixty bytes that took the workbench down, and some that are no kinder. */
const RESULTS = [
  '{"columns":[{"name":{"toString":1}}],"rows":[[1]]}',
  '{"columns":["toString","__proto__"],"rows":[{"a":1}]}',
  '[{"constructor":1},{"toString":2}]',
  '{"$$typeof":"Symbol(react.element)","type":"b","props":{}}',
  '{"then":{"length":-1},"toJSON":1}',
].map((text): unknown => JSON.parse(text));

test('a hostile result has its card, and the workbench stays usable, also after a reload', async ({
  page,
  callboard,
  connect,
}) => {
  const program = await connect.client(callboard, { tools: ['tide.read'] });
  await signIn(page, callboard);
  for (const result of RESULTS) {
    const id = await invoke(callboard, 'tide.read');
    program.succeed((await program.request()).id, result);
    await expect(cardOf(page, id)).toHaveAttribute('data-status', 'SUCCESS');
  }
  await expectUsable(page);
  await page.reload();
  await expect(cards(page)).toHaveCount(RESULTS.length);
  await expectUsable(page);
  await expect(page.getByTestId('cannot-show')).toHaveCount(0);
  const last = await invoke(callboard, 'tide.read');
  program.succeed((await program.request()).id, 'all is well');
  await expect(cardOf(page, last)).toContainText('all is well');
});

async function expectUsable(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { name: 'Live tool calls' })).toBeVisible();
  await composer(page).fill('still here');
  await expect(composer(page)).toHaveValue('still here');
}

/** Lines enough that they scroll, at any width. */
const LONG = Object.fromEntries(
  Array.from({ length: 60 }, (_, at) => [`line_${at}`, `item ${at}`]),
);

test('T73: long arguments are allowed once they were read to their end, by the keyboard alone', async ({
  page,
  startAsking,
}) => {
  const { board, program } = await startAsking(['gate.open']);
  await signIn(page, board);
  const id = await invoke(board, 'gate.open', LONG);
  const card = cardOf(page, id);
  await expect(card.getByTestId('status-chip')).toHaveText('Needs approval');
  const allow = card.getByRole('button', { name: 'Allow once' });
  await expect(allow).toBeDisabled();
  await expect(allow).toHaveAccessibleDescription(/scroll to the end of its arguments/);
  await card.focus();
  await page.keyboard.press('a');
  await expect(allow).toBeFocused();
  await page.keyboard.press('Enter');
  expect((await readCall(board, id)).phase).toBe('approval');
  await expect(card.getByRole('group', { name: 'Arguments to allow' })).toBeFocused();
  await page.keyboard.press('End');
  await expect(allow).toBeEnabled();
  await card.focus();
  await page.keyboard.press('a');
  await page.keyboard.press('Enter');
  expect((await program.request()).args).toEqual(LONG);
});
