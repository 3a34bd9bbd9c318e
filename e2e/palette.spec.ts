import { finalCall, invoke } from './contract/kit/calls.ts';
import { expect, test } from './contract/kit/contract-test.ts';
import { reader } from './contract/kit/tool-client.ts';
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

test('of many calls of all heights, the one that was chosen is in sight', async ({
  page,
  startServer,
  connect,
}) => {
  const board = await startServer();
  const program = await connect.client(board, { tools: [reader('shelf.read')] });
  const made: string[] = [];
  for (let n = 0; n < 120; n += 1) {
    const run = { run_id: `run_${n % 3}` };
    made.push(await invoke(board, 'shelf.read', { shelf: `shelf${1000 + n}` }, run));
    const { id } = await program.request();
    program.succeed(
      id,
      Array.from({ length: n % 10 }, (_, row) => ({ row, text: 'book' })),
    );
  }
  await finalCall(board, made.at(-1) ?? '');
  await signIn(page, board);
  await untilReady(page);
  for (const n of [3, 61, 112, 8]) {
    await page.keyboard.press('Control+K');
    const palette = page.getByRole('dialog', { name: 'Commands' });
    await palette.getByRole('combobox').fill(`shelf${1000 + n}`);
    await expect(palette.getByRole('option')).toHaveCount(1);
    await page.keyboard.press('Enter');
    const card = cardOf(page, made[n] ?? '');
    await expect(card).toBeFocused();
    await expect(card.getByRole('heading').first()).toBeInViewport();
  }
});
