import type { Page } from '@playwright/test';
import { get } from './contract/kit/ask.ts';
import { finalCall, invoke, readCall } from './contract/kit/calls.ts';
import type { Callboard } from './start-callboard.ts';
import { expect, test } from './support/asking-board.ts';
import { outside } from './support/outside-screen.ts';
import { cardOf, connection, signIn } from './support/workbench.ts';

const waiting = (page: Page) => page.getByRole('list', { name: 'Waiting' }).getByRole('article');
const decided = (page: Page) => page.getByRole('list', { name: 'Decided' }).getByRole('article');
const badge = (page: Page) => page.getByTestId('approvals');

test('in the inbox one is approved, one edited and approved, one denied with a reason', async ({
  page,
  startAsking,
}) => {
  const { board, program } = await startAsking();
  await signIn(page, board);
  await expect(badge(page)).toBeHidden();
  const [plain, edited, denied] = [
    await invoke(board, 'gate.open', { gate: 1 }, { run_id: 'run_a' }),
    await invoke(board, 'gate.open', { gate: 2, hurry: true }, { run_id: 'run_b' }),
    await invoke(board, 'gate.open', { gate: 3 }, { run_id: 'run_c' }),
  ];
  await expect(badge(page)).toHaveAccessibleName('3 approvals wait');
  await badge(page).click();
  await page.waitForURL('**/approvals');
  await expect(waiting(page)).toHaveCount(3);
  await expect(page.getByText(/^Asked by operator now/).first()).toBeVisible();
  await expect(page.getByRole('link', { name: 'in run_b' })).toHaveAttribute(
    'href',
    `/?run=run_b#call=${edited}`,
  );

  await cardOf(page, plain).getByRole('button', { name: 'Allow once' }).click();
  const first = await program.request();
  expect([first.id, first.args]).toEqual([plain, { gate: 1 }]);
  program.succeed(plain, 'open');

  const card = cardOf(page, edited);
  await card.getByRole('button', { name: 'Edit arguments…' }).click();
  await card.getByRole('textbox').fill('{"gate": 4}');
  await card.getByRole('button', { name: 'Allow with these' }).click();
  const second = await program.request();
  expect([second.id, second.args]).toEqual([edited, { gate: 4 }]);
  program.succeed(edited, 'open');
  await expect(card).toContainText('with edited arguments');
  await expect(card).not.toContainText('hurry');
  const sent = await get(board, `/v1/tool_calls/${edited}/model_output`);
  expect(sent.text).toContain('A person changed the arguments');

  await cardOf(page, denied).getByRole('button', { name: 'Deny with a reason…' }).click();
  await cardOf(page, denied)
    .getByRole('textbox', { name: /^Reason/ })
    .fill('it is stormy');
  await cardOf(page, denied).getByRole('button', { name: 'Deny', exact: true }).click();
  expect((await finalCall(board, denied)).error).toMatchObject({
    ...{ code: 'denied', executed: 'no' },
    message: expect.stringContaining('it is stormy'),
  });
  await expect(page.getByText('Nothing waits for a decision.')).toBeVisible();
  await expect(decided(page)).toHaveCount(3);
  await expect(badge(page)).toBeHidden();
});

/** Where a click on a button of this card would go. */
async function middleOf(page: Page, callId: string, name: string) {
  const button = cardOf(page, callId).getByRole('button', { name, exact: true });
  const box = await button.boundingBox();
  if (!box) throw new Error(`There is no button ${name}`);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

const phaseOf = async (board: Callboard, id: string) => (await readCall(board, id)).phase;

test('[AP14] a call that comes while the pointer rests on a decision does not move the card', async ({
  page,
  startAsking,
}) => {
  const { board, program } = await startAsking();
  const first = await invoke(board, 'gate.open', { gate: 1 });
  await signIn(page, board);
  await expect(cardOf(page, first)).toBeVisible();
  const at = await middleOf(page, first, 'Allow once');
  await page.mouse.move(at.x, at.y);
  await expect(page.locator('[data-held]')).toHaveCount(1);
  const second = await invoke(board, 'gate.open', { gate: 2 });
  await expect(page.getByTestId('fresh-calls')).toContainText('1 call needs approval');
  await page.mouse.click(at.x, at.y);
  expect((await program.request()).id).toBe(first);
  expect(await phaseOf(board, second)).toBe('approval');
});

test.describe('on a narrow dark screen', () => {
  test.use({
    viewport: { width: 320, height: 740 },
    colorScheme: 'dark',
    isMobile: true,
    hasTouch: true,
  });

  test('the inbox and the number in the header fit', async ({ page, startAsking }) => {
    const { board } = await startAsking();
    const run_id = `run_${'long'.repeat(9)}`;
    await invoke(board, 'gate.open', { gate: 1, hurry: true }, { run_id });
    await signIn(page, board);
    await page.goto(`${board.url}/approvals`);
    await expect(waiting(page)).toHaveCount(1);
    await expect(badge(page)).toBeVisible();
    expect(await outside(page)).toEqual([]);
    await page.getByRole('button', { name: 'Deny with a reason…' }).first().click();
    await expect(page.getByRole('textbox', { name: /^Reason/ })).toBeFocused();
    expect(await outside(page), 'with a reason').toEqual([]);
  });
});

test('no page scrolls beyond its end, however long it is', async ({ page, startAsking }) => {
  const { board } = await startAsking();
  for (const n of [1, 2, 3, 4, 5]) await invoke(board, 'gate.open', { gate: n });
  await page.setViewportSize({ width: 800, height: 400 });
  await signIn(page, board);
  for (const path of ['/approvals', '/', '/tools', '/devices', '/docs', '/settings/access']) {
    await page.goto(`${board.url}${path}`);
    await expect(connection(page)).toHaveAttribute('data-state', 'connected');
    if (path === '/approvals') await expect(waiting(page)).toHaveCount(5);
    const beyond = () => page.evaluate(() => document.documentElement.scrollHeight - innerHeight);
    expect(await beyond(), path).toBe(0);
  }
});
