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

async function openApproval({ page, startAsking }: OpenApproval, args: object) {
  const { board, program } = await startAsking(['gate.open']);
  await signIn(page, board);
  // On a narrow screen the cards are behind a tab.
  if (isNarrow(page)) await page.getByRole('tab', { name: /Live/ }).click();
  const id = await invoke(board, 'gate.open', args);
  const card = cardOf(page, id);
  await expect(card.getByTestId('status-chip')).toHaveText('Needs approval');
  const allow = card.getByRole('button', { name: 'Allow once' });
  const region = card.getByRole('group', { name: 'Arguments to allow' });
  return { board, program, id, card, allow, region };
}

const isNarrow = (page: Page): boolean => (page.viewportSize()?.width ?? 0) < 768;

type Fixtures = Parameters<Parameters<typeof test>[2]>[0];
type OpenApproval = Pick<Fixtures, 'page' | 'startAsking'>;

test('T73: long arguments are allowed once they were read to their end, by the keyboard alone', async ({
  page,
  startAsking,
}) => {
  const { board, id, program, card, allow, region } = await openApproval(
    { page, startAsking },
    LONG,
  );
  await expect(allow).toBeDisabled();
  await expect(allow).toHaveAccessibleDescription(/scroll to the end of its arguments/);
  await card.focus();
  await page.keyboard.press('a');
  await expect(allow).toBeFocused();
  await page.keyboard.press('Enter');
  expect((await readCall(board, id)).phase).toBe('approval');
  await expect(region).toBeFocused();
  await page.keyboard.press('End');
  await expect(allow).toBeEnabled();
  await card.focus();
  await page.keyboard.press('a');
  await page.keyboard.press('Enter');
  expect((await program.request()).args).toEqual(LONG);
});

test('T73: hidden characters in arguments to approve are marks', async ({ page, startAsking }) => {
  const args = { to: 'Ada\u{e0045}\u{e0056}\u{e0045}', memo: 'thanks ❤️\u3164\u2800' };
  const { program, allow, region } = await openApproval({ page, startAsking }, args);
  await expect(
    region.getByRole('img', { name: '3 hidden characters U+E0045, U+E0056, U+E0045' }),
  ).toBeVisible();
  await expect(region).toContainText('thanks ❤️⟨U+3164⟩⟨U+2800⟩');
  await allow.click();
  expect((await program.request()).args).toEqual(args);
});
