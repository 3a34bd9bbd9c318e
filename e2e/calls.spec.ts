import { finalCall, invoke, readCall } from './contract/kit/calls.ts';
import { expect, test } from './contract/kit/contract-test.ts';
import { spec } from './contract/kit/tool-client.ts';
import { cardOf, cards, cardsFor, signIn } from './support/workbench.ts';

test.use({ serverOf: 'file' });

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
