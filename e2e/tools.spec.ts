import { expect, test } from './contract/kit/contract-test.ts';
import { cards, signIn } from './support/workbench.ts';

const GATE = {
  name: 'gate.move',
  description: 'Moves a gate of the lock.',
  parameters: {
    type: 'object',
    properties: {
      direction: { type: 'string', enum: ['up', 'down'], description: 'Which way.' },
      slowly: { type: 'boolean' },
      gate: { type: 'integer', minimum: 1, maximum: 4 },
      crew: {
        type: 'object',
        properties: { name: { type: 'string' }, size: { type: 'integer' } },
        required: ['name'],
      },
    },
    required: ['direction', 'gate'],
    additionalProperties: false,
  },
};

test('a server tool is tried by form and as JSON, two views of one value', async ({
  page,
  callboard,
}) => {
  await signIn(page, callboard);
  await page.getByRole('link', { name: 'Tools' }).click();
  await page.getByRole('searchbox', { name: 'Search tools' }).fill('calculation');
  await page.getByRole('button', { name: 'calculation.eval' }).click();
  await expect(page).toHaveURL(/tool=calculation\.eval/);
  await page.getByRole('textbox', { name: /^expression/ }).fill('6 * 7');

  await page.getByRole('button', { name: 'JSON', exact: true }).click();
  const json = page.getByRole('textbox', { name: 'Arguments as JSON' });
  await expect(json).toHaveValue('{\n  "expression": "6 * 7"\n}');
  await json.fill('{"expression": "6 * 7 + 1"}');
  await page.getByRole('button', { name: 'Run' }).click();
  await expect(cards(page)).toHaveAttribute('data-status', 'SUCCESS');
  await expect(cards(page)).toContainText('43');

  await page.getByRole('button', { name: 'Form', exact: true }).click();
  await expect(page.getByRole('textbox', { name: /^expression/ })).toHaveValue('6 * 7 + 1');
});

test('a tool comes and goes with its client, while one looks at it', async ({
  page,
  callboard,
  connect,
}) => {
  await signIn(page, callboard);
  await page.goto(`${callboard.url}/tools?tool=gate.move`);
  await expect(page.getByText('No tool “gate.move” is offered now.')).toBeVisible();
  const program = await connect.client(callboard, { tools: [GATE] });
  await expect(page.getByRole('heading', { level: 1, name: 'gate.move' })).toBeVisible();
  await program.close();
  await expect(page.getByText('No tool “gate.move” is offered now.')).toBeVisible();
});
