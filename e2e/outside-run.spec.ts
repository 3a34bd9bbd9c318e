import { invoke } from './contract/kit/calls.ts';
import { expect, test } from './support/asking-board.ts';
import { cards, signInByToken } from './support/workbench.ts';

test('the conversation of an outside agent shows how many calls it has, and these alone', async ({
  page,
  startServer,
}) => {
  const board = await startServer();
  for (const run of ['run_mine', 'run_other']) {
    for (const expression of ['1+1', '2+2']) {
      await invoke(board, 'calculation.eval', { expression }, { run_id: run });
    }
  }
  await signInByToken(page, board, '/?run=run_mine');
  await expect(page.getByTestId('outside-run')).toContainText('Calls of an outside agent: 2');
  await expect(cards(page)).toHaveCount(2);
  const filter = page.getByRole('combobox', { name: 'Which calls' });
  await expect(filter).toHaveValue('run');
  await page.goto(`${board.url}/`);
  await expect(cards(page)).toHaveCount(4);
});

test('a call that waits for a person stays in sight when many others come', async ({
  page,
  startAsking,
}) => {
  const { board } = await startAsking();
  const waiting = await invoke(board, 'gate.open', { gate: 1 }, { run_id: 'run_mine' });
  await signInByToken(page, board, '/?run=run_mine');
  const filter = page.getByRole('combobox', { name: 'Which calls' });
  await expect(filter).toHaveValue('run');
  await filter.selectOption('all');
  for (let at = 0; at < 40; at += 1) {
    await invoke(board, 'calculation.eval', { expression: `1+${at}` }, { run_id: 'run_other' });
  }
  await expect(page.getByTestId('live-counts')).toContainText('41 calls');
  await expect(cards(page).first()).toHaveAttribute('data-call-id', waiting);
  await filter.selectOption({ label: 'Waits for a person' });
  await expect(cards(page)).toHaveCount(1);
});
