import type { TestInfo } from '@playwright/test';
import { finalCall, invoke } from './contract/kit/calls.ts';
import { expect, test } from './contract/kit/contract-test.ts';
import { asToken, makeToken } from './contract/kit/tokens.ts';
import type { Callboard } from './start-callboard.ts';
import { outside } from './support/outside-screen.ts';
import { cardOf, signIn, signInByToken } from './support/workbench.ts';

const NAME = `lock.${'gate-with-a-long-name-'.repeat(2)}move`;

/** Two calls that succeed and one that fails, the failed one last. */
async function makeCalls(
  board: Callboard,
  connect: Parameters<Parameters<typeof test>[2]>[0]['connect'],
): Promise<string> {
  const program = await connect.client(board, {
    hello: { name: 'Lock keeper', kind: 'program' },
    tools: [NAME],
  });
  let last = '';
  for (const fails of [false, false, true]) {
    last = await invoke(board, NAME);
    await program.request();
    if (fails) program.fail(last, 'The gate is stuck.');
    else program.succeed(last, 'moved');
    await finalCall(board, last);
  }
  await finalCall(board, await invoke(board, 'calculation.eval', { expression: '6*7' }));
  return last;
}

const attach = async (testInfo: TestInfo, name: string, body: Buffer) =>
  testInfo.attach(name, { body, contentType: 'image/png' });

test('a viewer sees how all tools did, sorts them, opens one, and goes from its last error to the call', async ({
  page,
  startServer,
  connect,
}) => {
  const board = await startServer();
  const failed = await makeCalls(board, connect);
  const vera = await makeToken(board, { kind: 'operator', name: 'vera', role: 'viewer' });
  await signInByToken(page, asToken(board, vera), '/tools');
  const table = page.getByRole('table', { name: 'Statistics of all tools' });
  const names = table.getByRole('rowheader');
  await expect(names).toHaveText([NAME, 'calculation.eval']);
  await expect(table.getByRole('row').nth(1)).toContainText('366.6%1');
  await table.getByRole('button', { name: 'Success' }).click();
  await expect(names).toHaveText(['calculation.eval', NAME]);

  await table.getByRole('button', { name: NAME }).click();
  const figures = page.getByRole('region', { name: 'Statistics' });
  await expect(figures).toContainText('tool_error 1');
  await expect(figures).toContainText('The gate is stuck.');
  await expect(figures).toContainText('Lock keeper');
  await figures.getByRole('link', { name: `Call ${failed}` }).click();
  await expect(cardOf(page, failed)).toBeFocused();
});

test.describe('on a narrow screen', () => {
  test.use({ viewport: { width: 320, height: 740 }, isMobile: true, hasTouch: true });

  test('the statistics take the place of the list, and fit', async ({
    page,
    startServer,
    connect,
  }, testInfo) => {
    const board = await startServer();
    await makeCalls(board, connect);
    await signIn(page, board);
    await page.goto(`${board.url}/tools`);
    await page.getByRole('button', { name: 'Statistics' }).click();
    await expect(page.getByRole('searchbox')).toBeHidden();
    await page.getByRole('button', { name: NAME }).click();
    await expect(page.getByText('Failures by code')).toBeVisible();
    expect(await outside(page), 'of one tool').toEqual([]);
    await attach(testInfo, 'one', await page.screenshot());
    await page.getByRole('button', { name: 'Statistics', exact: true }).click();
    await expect(page.getByRole('table')).toBeVisible();
    expect(await outside(page), 'of all').toEqual([]);
    await attach(testInfo, 'all', await page.screenshot());
    await page.getByRole('button', { name: 'All tools' }).click();
    await expect(page.getByRole('searchbox')).toBeVisible();
  });
});
