import { finalCall, invoke } from './contract/kit/calls.ts';
import { expect, test } from './contract/kit/contract-test.ts';
import { cardOf, signIn, untilReady } from './support/workbench.ts';

test('words of an old call find it in the palette, and open its conversation with its card', async ({
  page,
  startServer,
}) => {
  const board = await startServer();
  const run = { run_id: 'run_harbour' };
  const old = await invoke(board, 'calculation.eval', { expression: '4711 + 815' }, run);
  await finalCall(board, old);
  await finalCall(board, await invoke(board, 'calculation.eval', { expression: '1 + 1' }));
  await signIn(page, board);
  await untilReady(page);
  await page.keyboard.press('Control+K');
  const palette = page.getByRole('dialog', { name: 'Commands' });
  await palette.getByRole('combobox').fill('4711 815');
  const options = palette.getByRole('option');
  await expect(options).toHaveCount(1);
  await expect(options.first()).toContainText('calculation.eval');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/run=run_harbour/);
  await expect(cardOf(page, old)).toBeFocused();
  await page.keyboard.press('Control+K');
  await palette.getByRole('combobox').fill('cln');
  await expect(palette.getByText('Nothing matches.')).toBeVisible();
});
