import { readFile } from 'node:fs/promises';
import type { Browser, Page } from '@playwright/test';
import { get, post } from './contract/kit/ask.ts';
import { finalCall, invoke, readCall } from './contract/kit/calls.ts';
import { asToken, decideOverAnyRoute, makeToken, revokeToken } from './contract/kit/tokens.ts';
import type { Callboard } from './start-callboard.ts';
import { expect, test } from './support/asking-board.ts';
import { outside } from './support/outside-screen.ts';
import { cardOf, connection, signIn, signInByToken } from './support/workbench.ts';

/** A browser of a person's own, signed in with the token that an administrator gave. */
async function signedInAs(
  browser: Browser,
  board: Callboard,
  body: { name: string; role: 'viewer' | 'operator' },
) {
  const token = await makeToken(board, { kind: 'operator', ...body });
  const page = await (await browser.newContext()).newPage();
  await signInByToken(page, asToken(board, token));
  await expect(connection(page)).toHaveAttribute('data-state', 'connected');
  return { page, token };
}

/** Sockets that a page opens and requests that were refused, from now on. */
function watch(page: Page) {
  const sockets: string[] = [];
  const refused: string[] = [];
  page.on('websocket', (socket) => sockets.push(new URL(socket.url()).pathname));
  page.on('response', (response) => {
    if (response.status() === 403) refused.push(response.url());
  });
  return { sockets, refused };
}

const who = (page: Page, text: string) => page.getByRole('link', { name: `Signed in as ${text}` });

test('a viewer who cannot act', async ({ browser, startAsking }) => {
  const { board, program } = await startAsking(['gate.open', 'tide.read']);
  const waiting = await invoke(board, 'gate.open', { gate: 1 });
  const failed = await invoke(board, 'tide.read');
  program.fail((await program.request()).id, 'the gauge is dry');
  await finalCall(board, failed);
  const running = await invoke(board, 'tide.read');
  await program.request();

  const token = await makeToken(board, { kind: 'operator', name: 'vera', role: 'viewer' });
  const page = await (await browser.newContext()).newPage();
  const seen = watch(page);
  await signInByToken(page, asToken(board, token));
  await expect(connection(page)).toHaveAttribute('data-state', 'connected');
  await expect(who(page, 'vera, viewer')).toBeVisible();
  await expect(page.getByText(/^You are signed in as a viewer/)).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeHidden();
  await expect(page.getByRole('button', { name: '(2+3)*4' })).toBeHidden();

  const card = cardOf(page, waiting);
  await expect(card).toContainText('An operator or administrator decides on this call.');
  await expect(cardOf(page, running)).toHaveAttribute('data-look', 'running');
  await expect(cardOf(page, failed)).toHaveAttribute('data-look', 'failed');
  const acts = /^(Allow|Always|Edit|Deny|Cancel|Retry|Run it again|30 s more)/;
  await expect(page.getByRole('article').getByRole('button', { name: acts })).toHaveCount(0);
  await cardOf(page, failed)
    .getByRole('button', { name: /^More for/ })
    .click();
  await expect(page.getByRole('menuitem', { name: 'Copy id' })).toBeVisible();
  await expect(page.getByRole('menuitem', { name: acts })).toHaveCount(0);
  await page.keyboard.press('Escape');

  await card.focus();
  for (const key of ['a', 'd', 'x', 'r', '/']) await page.keyboard.press(key);
  await page.keyboard.press('Control+K');
  const palette = page.getByRole('dialog', { name: 'Commands' });
  await expect(palette.getByRole('option', { name: 'Keyboard shortcuts' })).toBeVisible();
  await expect(palette.getByRole('option', { name: 'New conversation' })).toHaveCount(0);
  await page.keyboard.press('Escape');

  await page.goto(`${board.url}/tools?tool=calculation.eval`);
  await expect(page.getByRole('button', { name: 'Run', exact: true })).toBeDisabled();
  await expect(page.getByText(/^You are signed in as a viewer/)).toBeVisible();
  for (const path of ['/settings/access', '/settings/audit']) {
    await page.goto(board.url + path);
    await expect(page.getByText(/^This page is for administrators\./)).toBeVisible();
  }
  expect(seen.sockets).toContain('/ws/watch');
  expect(seen.sockets).not.toContain('/ws/client');
  expect(seen.refused).toEqual([]);
  expect(await readCall(board, waiting)).toMatchObject({ status: 'PENDING', phase: 'approval' });
});

test('an agent token that cannot approve itself over any route, until a person does', async ({
  browser,
  startAsking,
}) => {
  const { board, program } = await startAsking();
  const bot = await makeToken(board, { kind: 'agent', name: 'bot', tools: ['gate.open'] });
  const asBot = asToken(board, bot);
  const call = await invoke(asBot, 'gate.open', { gate: 1 }, { run_id: 'run_bot' });
  const { page } = await signedInAs(browser, board, { name: 'olga', role: 'operator' });
  const card = cardOf(page, call);
  await expect(card).toHaveAttribute('data-look', 'approval');
  const statuses = await decideOverAnyRoute(asBot, call);
  expect([...statuses.values()].filter((status) => status < 400)).toEqual([]);
  await page.goto(`${board.url}/sign-in`);
  await page.getByLabel('Token', { exact: true }).fill(bot.secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByText(/^This token is wrong/)).toBeVisible();
  await page.goto(board.url);
  await expect(card).toHaveAttribute('data-look', 'approval');
  expect(program.all('tool_call_request')).toEqual([]);
  await card.getByRole('button', { name: 'Allow once' }).click();
  program.succeed((await program.request()).id, 'open');
  await expect(card).toHaveAttribute('data-status', 'SUCCESS');
});

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

test('a person whose token is revoked is signed out, and the page shows why', async ({
  browser,
  callboard,
}) => {
  const { page, token } = await signedInAs(browser, callboard, { name: 'olga', role: 'operator' });
  await expect(who(page, 'olga, operator')).toBeVisible();
  await page.goto(`${callboard.url}/tools`);
  await expect(connection(page)).toHaveAttribute('data-state', 'connected');
  await revokeToken(callboard, token.id);
  await page.waitForURL((url) => url.pathname === '/sign-in');
  await expect(page.getByText(/or its token was revoked/)).toBeVisible();
  await page.getByLabel('Token', { exact: true }).fill(token.secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByText(/^This token is wrong, or it was revoked/)).toBeVisible();
});

test.describe('on a narrow screen', () => {
  test.use({ viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });

  test('the settings fit, and the menu names who is signed in', async ({ page, callboard }) => {
    const tools = Array.from({ length: 30 }, (_, at) => `long.family.of.tools.number_${at}`);
    const name = 'a-long-name-of-a-program.with_everything.that-a-name-may-have-in';
    await makeToken(callboard, { kind: 'agent', name, tools });
    await makeToken(callboard, { kind: 'operator', name: 'vera', role: 'viewer' });
    await signIn(page, callboard);
    for (const width of [360, 320]) {
      await page.setViewportSize({ width, height: 740 });
      await page.goto(`${callboard.url}/settings/access`);
      await expect(page.getByRole('article', { name })).toBeVisible();
      await page.getByRole('button', { name: 'New token' }).click();
      await expect(page.getByRole('checkbox').first()).toBeVisible();
      expect(await outside(page), `access, ${width}`).toEqual([]);
      await page.goto(`${callboard.url}/settings/policy`);
      await expect(page.getByTestId('autonomy-now')).toBeVisible();
      expect(await outside(page), `policy, ${width}`).toEqual([]);
      await page.goto(`${callboard.url}/settings/audit`);
      await expect(page.getByTestId('audit-entry')).not.toHaveCount(0);
      expect(await outside(page), `audit, ${width}`).toEqual([]);
    }
    await page.getByRole('button', { name: 'Menu', exact: true }).click();
    const menu = page.getByRole('menu', { name: 'Menu' });
    await expect(menu).toContainText('Signed in as operator, administrator');
  });
});
