import { expect, test } from './contract/kit/contract-test.ts';
import { signIn } from './support/workbench.ts';

test('a tool comes and goes with its client, while one looks at it', async ({
  page,
  callboard,
  connect,
}) => {
  await signIn(page, callboard);
  await page.goto(`${callboard.url}/tools?tool=gate.move`);
  await expect(page.getByText('No tool “gate.move” is offered now.')).toBeVisible();
  const program = await connect.client(callboard, { tools: ['gate.move'] });
  await expect(page.getByRole('heading', { level: 1, name: 'gate.move' })).toBeVisible();
  await program.close();
  await expect(page.getByText('No tool “gate.move” is offered now.')).toBeVisible();
});
