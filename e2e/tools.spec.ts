import { readCall } from './contract/kit/calls.ts';
import { expect, test } from './contract/kit/contract-test.ts';
import { callIdOf, cards, signIn } from './support/workbench.ts';

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

test("a client's tool gets what the form shows, of each kind of field, and nothing else", async ({
  page,
  callboard,
  connect,
}) => {
  const program = await connect.client(callboard, {
    hello: { name: 'Lock keeper', kind: 'program' },
    tools: [GATE],
  });
  await signIn(page, callboard);
  await page.goto(`${callboard.url}/tools?tool=gate.move`);
  await expect(page.getByText('Lock keeper')).toBeVisible();
  await page.getByRole('combobox', { name: /^direction/ }).selectOption('down');
  await page.getByRole('combobox', { name: /^slowly/ }).selectOption('false');
  await page.getByRole('spinbutton', { name: /^gate/ }).fill('3');
  await page.getByRole('textbox', { name: /^name/ }).fill('Ada');
  await page.getByRole('button', { name: 'Run' }).click();

  const request = await program.request();
  expect(request.args).toEqual({
    direction: 'down',
    slowly: false,
    gate: 3,
    crew: { name: 'Ada' },
  });
  const card = cards(page);
  await expect(card).toHaveAttribute('data-status', 'DOING');
  await expect(card.getByTestId('status-chip')).toHaveText('Running');
  program.succeed(request.id, { moved: true });
  await expect(card).toHaveAttribute('data-status', 'SUCCESS');
  await expect(card).toContainText('moved');
  const record = await readCall(callboard, await callIdOf(card));
  expect(record.run_id).toMatch(/^run_manual_/);
});

test('wrong arguments are marked at their field and never sent', async ({
  page,
  callboard,
  connect,
}) => {
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/invoke')) sent.push(request.postData() ?? '');
  });
  const program = await connect.client(callboard, { tools: [GATE] });
  await signIn(page, callboard);
  await page.goto(`${callboard.url}/tools?tool=gate.move`);
  const gate = page.getByRole('spinbutton', { name: /^gate/ });
  await gate.fill('9');
  await page.getByRole('button', { name: 'Run' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'do not fit yet' })).toBeVisible();
  await expect(gate).toHaveAccessibleDescription(/4/);
  await expect(page.getByRole('combobox', { name: /^direction/ })).toHaveAccessibleDescription(
    /required|must/i,
  );
  await page.getByRole('button', { name: 'JSON', exact: true }).click();
  const json = page.getByRole('textbox', { name: 'Arguments as JSON' });
  await expect(json).toHaveAccessibleDescription(/gate.*4/);
  await json.fill('{"gate": ');
  await page.getByRole('button', { name: 'Run' }).click();
  await expect(page.getByRole('button', { name: 'Form', exact: true })).toBeDisabled();
  await json.fill('{"gate": 4, "direction": "up"}');
  await page.getByRole('button', { name: 'Run' }).click();
  const request = await program.request();
  expect(request.args).toEqual({ gate: 4, direction: 'up' });
  expect(sent).toHaveLength(1);
  await expect(cards(page)).toHaveCount(1);
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
