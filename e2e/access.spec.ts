import { readFile } from 'node:fs/promises';
import { get, post } from './contract/kit/ask.ts';
import { makeToken } from './contract/kit/tokens.ts';
import { expect, test } from './support/asking-board.ts';
import { outside } from './support/outside-screen.ts';
import { connection, signIn } from './support/workbench.ts';

test.use({ serverOf: 'file' });

test('a token is made, copied, used by a program, and revoked; the audit has it', async ({
  page,
  context,
  callboard,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await signIn(page, callboard);
  await expect(connection(page)).toContainText(/[1-9]\d* tools/);
  await page.getByRole('link', { name: 'Settings' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Access' })).toBeVisible();
  await page.getByRole('button', { name: 'New token' }).click();
  await expect(page.getByRole('textbox', { name: 'Name' })).toBeFocused();
  await page.keyboard.type('helper');
  await page.getByRole('searchbox', { name: 'Search, or type a name' }).fill('calc');
  await page.getByRole('checkbox', { name: 'calculation.eval' }).check();
  await page.getByRole('searchbox', { name: 'Search, or type a name' }).fill('file.*');
  await page.getByRole('checkbox', { name: /^file\.\*/ }).check();
  await page.getByRole('button', { name: 'Create' }).click();
  await expect(page.getByText('It is shown this once and stored nowhere.')).toBeVisible();
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await expect(page.getByText('Copied.')).toBeVisible();
  const token = await page.evaluate(() => navigator.clipboard.readText());
  expect(token).toMatch(/^cb_agent_/);
  await page.getByRole('button', { name: 'Done, hide it' }).click();
  await expect(page.getByRole('button', { name: 'New token' })).toBeFocused();
  expect(await page.content()).not.toContain(token);

  const asHelper = { token };
  const invoking = (tool: string, args: object) =>
    post(
      callboard,
      `/v1/tools/${tool}/invoke`,
      { run_id: 'run_helper', args, wait_ms: 10_000 },
      asHelper,
    );
  expect((await invoking('calculation.eval', { expression: '6*7' })).text).toContain('42');
  expect((await invoking('database.query', { sql: 'select 1' })).status).toBe(403);
  await page.reload();
  const row = page.getByRole('article', { name: 'helper' });
  await expect(row).toContainText(/calculation\.evalfile\.\*.*last used/);
  await row.getByRole('button', { name: 'Revoke…' }).click();
  await expect(row.getByRole('button', { name: 'Keep it' })).toBeFocused();
  await row.getByRole('button', { name: 'Revoke', exact: true }).click();
  await expect(row).toContainText('Revoked');
  await expect(row).toBeFocused();
  expect((await get(callboard, '/v1/me', asHelper)).status).toBe(401);

  await page.getByRole('link', { name: 'Audit' }).click();
  const entries = page.getByTestId('audit-entry');
  await expect(entries).toHaveCount(3);
  await expect(entries.first()).toContainText(/^revoked a token.*helper/);
  await page.getByRole('combobox', { name: 'What' }).selectOption('made a token');
  await expect(entries).toHaveCount(1);
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  const file = await readFile(await (await saving).path(), 'utf8');
  const lines = file
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([{ act: 'token_created', detail: { name: 'helper' } }]);
  expect(file).not.toContain(token);
});

test.describe('on a narrow screen', () => {
  test.use({ viewport: { width: 320, height: 740 }, isMobile: true, hasTouch: true });

  test('the settings fit, and the menu names who is signed in', async ({ page, callboard }) => {
    const tools = Array.from({ length: 30 }, (_, at) => `long.family.of.tools.number_${at}`);
    const name = 'a-long-name-of-a-program.with_everything.that-a-name-may-have-in';
    await makeToken(callboard, { kind: 'agent', name, tools });
    await makeToken(callboard, { kind: 'operator', name: 'vera', role: 'viewer' });
    await signIn(page, callboard);
    await page.goto(`${callboard.url}/settings/access`);
    await expect(page.getByRole('article', { name })).toBeVisible();
    await page.getByRole('button', { name: 'New token' }).click();
    await expect(page.getByRole('checkbox').first()).toBeVisible();
    expect(await outside(page), 'access').toEqual([]);
    await page.goto(`${callboard.url}/settings/policy`);
    await expect(page.getByTestId('autonomy-now')).toBeVisible();
    expect(await outside(page), 'policy').toEqual([]);
    await page.goto(`${callboard.url}/settings/audit`);
    await expect(page.getByTestId('audit-entry')).not.toHaveCount(0);
    expect(await outside(page), 'audit').toEqual([]);
    await page.getByRole('button', { name: 'Menu', exact: true }).click();
    const menu = page.getByRole('menu', { name: 'Menu' });
    await expect(menu).toContainText('Signed in as operator, administrator');
  });
});
