import { get } from './contract/kit/ask.ts';
import { invoke, readCall } from './contract/kit/calls.ts';
import { expect, test } from './support/asking-board.ts';
import { cardOf, signIn, untilReady } from './support/workbench.ts';

test('[CA30] [CA31] always from the card, with where and how long, until it is revoked on the page', async ({
  page,
  startAsking,
}) => {
  const { board, program } = await startAsking();
  await signIn(page, board);
  await untilReady(page);
  const card = cardOf(page, await invoke(board, 'gate.open', { gate: 1 }));
  await card.getByRole('button', { name: 'Always…' }).click();
  await card.getByRole('combobox', { name: 'Where' }).selectOption('saved');
  await card.getByRole('combobox', { name: 'How long' }).selectOption('day');
  await expect(card.getByTestId('always-rule')).toContainText(
    /gate\.open of .*, with any arguments; in each run of its owner; for 1 day/,
  );
  expect(program.all('tool_call_request')).toEqual([]);
  await card.getByRole('button', { name: 'Allow, and do not ask again' }).click();
  program.succeed((await program.request()).id, 'open');
  await expect(card).toHaveAttribute('data-status', 'SUCCESS');
  const elsewhere = await invoke(board, 'gate.open', { gate: 2 }, { run_id: 'run_elsewhere' });
  program.succeed((await program.request()).id, 'open');
  await expect(cardOf(page, elsewhere)).toHaveAttribute('data-status', 'SUCCESS');

  await page.goto(`${board.url}/settings/policy`);
  await expect(page.getByTestId('policy-source')).toContainText('Read from ');
  await expect(page.getByTestId('policy-rule')).toContainText('gate.open');
  const again = page.waitForRequest(`${board.url}/v1/policy`);
  await page.getByRole('button', { name: 'Look again' }).click();
  await again;
  const rule = page.getByTestId('always');
  await expect(rule).toContainText(/^gate\.open of .*, in each run of its owner/);
  await expect(rule).toContainText(/by operator, .* · until .* · last used /);
  await rule.getByRole('button', { name: 'Revoke… gate.open' }).press('Enter');
  await expect(rule.getByRole('button', { name: 'Keep it' })).toBeFocused();
  await rule.getByRole('button', { name: 'Revoke', exact: true }).press('Enter');
  await expect(rule).toHaveCount(0);
  await expect(page.getByRole('heading', { name: 'Always allowed' })).toBeFocused();
  const asked = await invoke(board, 'gate.open', { gate: 3 }, { run_id: 'run_elsewhere' });
  expect((await readCall(board, asked)).phase).toBe('approval');
  const { body } = await get(board, '/v1/audit?act=always_withdrawn');
  expect(body).toMatchObject({ entries: [{ detail: { tool_name: 'gate.open' } }] });
});

test('[PO9] [PO10] switching the autonomy live stops a write at once, for all and for one run', async ({
  page,
  startServer,
  connect,
}) => {
  const board = await startServer();
  const program = await connect.client(board, { tools: ['gate.open'] });
  await signIn(page, board);
  await page.goto(`${board.url}/settings/policy`);
  await invoke(board, 'gate.open', {}, { run_id: 'run_a' });
  await program.request();
  const now = page.getByTestId('autonomy-now');
  await expect(now).toContainText('supervised');

  await page.getByRole('combobox', { name: 'Run', exact: true }).fill('run_a');
  await page.getByRole('button', { name: 'Set for this run' }).click();
  await expect(page.getByTestId('run-level')).toContainText('read only');
  const denied = { status: 'FAILED', error: { code: 'denied' } };
  const ofA = await invoke(board, 'gate.open', {}, { run_id: 'run_a' });
  expect(await readCall(board, ofA)).toMatchObject(denied);
  await invoke(board, 'gate.open', {}, { run_id: 'run_b' });
  await program.request();

  await page.getByRole('radio', { name: /^read only/ }).check();
  await page.getByRole('button', { name: 'Switch' }).click();
  await expect(now).toContainText('read only');
  const ofB = await invoke(board, 'gate.open', {}, { run_id: 'run_b' });
  expect(await readCall(board, ofB)).toMatchObject(denied);

  await page.getByRole('combobox', { name: 'Tool' }).selectOption('gate.open');
  await page.getByRole('button', { name: 'Try', exact: true }).click();
  await expect(page.getByTestId('outcome')).toContainText(/^deny by the rule autonomy/);
});

test('[PO9] [AN2] [AN3] [AN5] the autonomy is on every page, full is asked about, read only blocks a yes', async ({
  page,
  startAsking,
}) => {
  const { board } = await startAsking();
  await signIn(page, board);
  await page.goto(`${board.url}/settings/policy`);
  const badge = page.getByTestId('autonomy-badge');
  await expect(page.getByTestId('autonomy-now')).toContainText('supervised');
  await expect(badge).toHaveCount(0);
  await page.getByRole('radio', { name: /^full/ }).check();
  await page.getByRole('button', { name: 'Switch', exact: true }).click();
  await expect(page.getByTestId('confirm-full')).toContainText('with their effects');
  await expect(page.getByTestId('autonomy-now')).toContainText('supervised');
  await page.getByRole('button', { name: 'Switch to full' }).click();
  await expect(badge).toHaveAttribute('data-level', 'full');
  await page.getByRole('radio', { name: /^supervised/ }).check();
  await page.getByRole('button', { name: 'Switch', exact: true }).click();
  await expect(badge).toHaveCount(0);

  await invoke(board, 'gate.open', {}, { run_id: 'run_a' });
  await page.getByRole('radio', { name: /^read only/ }).check();
  await page.getByRole('button', { name: 'Switch', exact: true }).click();
  await expect(badge).toHaveAttribute('data-level', 'read_only');
  await page.goto(`${board.url}/approvals`);
  await expect(badge).toBeVisible();
  const allow = page.getByRole('button', { name: 'Allow once' });
  await expect(allow).toHaveAttribute('aria-disabled', 'true');
  await expect(page.getByTestId('read-only-note')).toContainText('cannot be allowed');
  await page.getByRole('link', { name: 'Switch the autonomy' }).click();
  await expect(page).toHaveURL(/\/settings\/policy/);
});
