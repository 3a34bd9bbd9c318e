import { AxeBuilder } from '@axe-core/playwright';
import type { Locator, Page } from '@playwright/test';
import { invoke } from './contract/kit/calls.ts';
import { expect, test } from './contract/kit/contract-test.ts';
import { join, makeDeviceToken, openPairing, pairDevice } from './contract/kit/devices.ts';
import { makeToken } from './contract/kit/tokens.ts';
import { reader } from './contract/kit/tool-client.ts';
import { askingOptions } from './support/asking-board.ts';
import { configFile } from './support/config-file.ts';
import { lookKinds, makeEveryLook } from './support/every-look.ts';
import { cardOf, cards, composer, connection, signIn, untilReady } from './support/workbench.ts';

test.use({ serverOf: 'file' });

/**
 * Every rule that axe has, for WCAG 2.2 A and AA and as best practice. Without
 * its way through nested frames: no page has one, and that way opens a tab.
 */
async function expectNoViolations(page: Page, where: string, rules?: string[]): Promise<void> {
  const axe = new AxeBuilder({ page }).setLegacyMode();
  const { violations } = await (rules ? axe.withRules(rules) : axe).analyze();
  const told = violations.map(({ id, nodes }) => ({
    id,
    nodes: nodes.map((node) => `${node.target.join(' ')}: ${node.failureSummary}`).slice(0, 5),
  }));
  expect(told, where).toEqual([]);
}

/** Themes differ in their colours alone: each page is looked at in one, and the next in the other. */
async function expectNoViolationsByTheme(page: Page, where: string): Promise<void> {
  themes.reverse();
  await setTheme(page, themes[0]);
  await expectNoViolations(page, `${where}, ${themes[0]}`);
}

const themes: ['light' | 'dark', 'light' | 'dark'] = ['light', 'dark'];

/** The theme is set as the button in the header sets it. Transitions of colours are waited for. */
async function setTheme(page: Page, theme: 'light' | 'dark'): Promise<void> {
  await page.evaluate((name) => {
    document.documentElement.dataset.theme = name;
  }, theme);
  await expect
    .poll(() =>
      page.evaluate(
        () => document.getAnimations().filter((one) => one instanceof CSSTransition).length,
      ),
    )
    .toBe(0);
}

test('axe finds nothing on any page', async ({ page, startServer, connect }, testInfo) => {
  // Each page is looked at whole, and there are many.
  testInfo.setTimeout(300_000);
  const board = await startServer(await askingOptions(testInfo));
  await page.goto(`${board.url}/sign-in?expired=1`);
  await expectNoViolationsByTheme(page, '/sign-in');
  await signIn(page, board);
  await expect(page.locator('html')).toHaveAttribute('lang', 'en');
  await expect(connection(page)).toHaveAttribute('data-state', 'connected');
  await expectNoViolationsByTheme(page, '/, empty');

  // Tall enough for all: what is out of sight is not drawn.
  await page.setViewportSize({ width: 1280, height: 5_000 });
  const count = await makeEveryLook(board, connect);
  await expect(cards(page)).toHaveCount(count);
  await expect(page.locator('[data-look="away"]')).toBeVisible();
  await expect(page.locator('[data-look="timeout"]')).toBeVisible();
  expect(new Set(await lookKinds(page))).toEqual(
    new Set([
      'approval',
      'away',
      'cancelled',
      'denied',
      'device',
      'done',
      'failed',
      'question',
      'running',
      'timeout',
    ]),
  );
  await expectNoViolationsByTheme(page, '/, with cards');

  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto(`${board.url}/approvals`);
  await page.locator('[data-approval="no-reason"]').first().click();
  await expect(page.locator('textarea[maxlength="2000"]')).toBeFocused();
  await expectNoViolationsByTheme(page, '/approvals');
  await page.goto(`${board.url}/tools?tool=browser.screenshot`);
  await expect(page.locator('form select, form input').first()).toBeVisible();
  await expectNoViolationsByTheme(page, '/tools, Try it');
  await page.goto(`${board.url}/tools`);
  await expect(page.getByRole('table')).toBeVisible();
  await expectNoViolationsByTheme(page, '/tools, statistics');
  const tools = [reader('camera.photo')];
  await pairDevice(board, tools);
  const { code } = await openPairing(board);
  const { token_hash } = makeDeviceToken();
  await join(board, { code, token_hash, name: 'Tablet', kind: 'phone', tools });
  await page.goto(`${board.url}/devices`);
  await expect(page.getByTestId('pairing-request')).toBeVisible();
  await expect(page.getByTestId('device').first()).toBeVisible();
  await expectNoViolationsByTheme(page, '/devices');
  await page.goto(`${board.url}/docs`);
  await expect(page.getByRole('heading', { level: 2 }).first()).toBeVisible();
  await expectNoViolationsByTheme(page, '/docs');
  await makeToken(board, { kind: 'agent', name: 'bot', tools: ['file.*'] });
  await page.goto(`${board.url}/settings/access`);
  await expect(page.getByTestId('token')).toHaveCount(3);
  await page.locator('[aria-expanded="false"].btn-primary').click();
  await page.locator('[data-name="bot"] button').click();
  await expect(page.locator('input[type="checkbox"]').first()).toBeVisible();
  await expectNoViolationsByTheme(page, '/settings/access');
  await page.goto(`${board.url}/settings/connect`);
  await page.locator('form [name=name]').fill('coder');
  await page.locator('form button[type=submit]').click();
  await expect(page.locator('pre').first()).toContainText('cb_agent_');
  await expectNoViolationsByTheme(page, '/settings/connect');
  await page.goto(`${board.url}/settings/mcp`);
  await expect(page.locator('pre').first()).toContainText('mcp_servers');
  await expectNoViolationsByTheme(page, '/settings/mcp');
  await page.goto(`${board.url}/settings/policy`);
  await expect(page.getByTestId('policy-rule').first()).toBeVisible();
  await expect(page.getByRole('combobox')).not.toHaveCount(0);
  await expectNoViolationsByTheme(page, '/settings/policy');
  await page.goto(`${board.url}/settings/deliveries`);
  await expect(page.locator('pre')).toContainText('notify');
  await expectNoViolationsByTheme(page, '/settings/deliveries');
  await page.goto(`${board.url}/settings/audit`);
  await expect(page.getByTestId('audit-entry').first()).toBeVisible();
  await expectNoViolationsByTheme(page, '/settings/audit');
  await page.goto(`${board.url}/no-such-page`);
  await expectNoViolationsByTheme(page, '404');
});

test('everything is reached and done by the keyboard alone', async ({ page, callboard }) => {
  await signIn(page, callboard);
  await untilReady(page);
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('main')).toBeFocused();

  await page.keyboard.press('/');
  await expect(composer(page)).toBeFocused();
  await page.keyboard.type('(2+3)*4?');
  await expect(page.getByRole('dialog')).toBeHidden();
  await page.keyboard.press('Enter');
  await expect(cards(page)).toHaveAttribute('data-status', 'SUCCESS');

  await composer(page).blur();
  await page.keyboard.press('?');
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await expect(sheet).toBeVisible();
  await expectNoViolations(page, 'the list of shortcuts');
  await page.keyboard.press('Escape');
  await expect(sheet).toBeHidden();

  const second = await invoke(callboard, 'calculation.eval', { expression: '6*7' });
  await expect(cards(page)).toHaveCount(2);
  await page.keyboard.press('j');
  await expect(cardOf(page, second)).toBeFocused();
  await page.keyboard.press('j');
  await expect(cards(page).nth(1)).toBeFocused();
  await page.keyboard.press('k');
  await expect(cardOf(page, second)).toBeFocused();
  await page.keyboard.press('o');
  await expect(cardOf(page, second).getByTestId('result')).toBeHidden();

  await page.keyboard.press('Control+K');
  const palette = page.getByRole('dialog', { name: 'Commands' });
  await expect(palette.getByRole('combobox')).toBeFocused();
  await expectNoViolations(page, 'the palette');
  await page.keyboard.type('calculation');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'calculation.eval' })).toBeVisible();
  await page.keyboard.press('g');
  await page.keyboard.press('w');
  await expect(composer(page)).toBeVisible();
});

test('theme and language change in place, stay over a reload, and lose nothing that was typed', async ({
  page,
  callboard,
}) => {
  await signIn(page, callboard);
  await untilReady(page);
  await composer(page).fill('a draft');
  await page.getByRole('button', { name: 'Theme: system' }).click();
  await page.getByRole('button', { name: 'Theme: light' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.getByRole('button', { name: '切换到中文' }).click();
  await expect(page.getByRole('heading', { name: '实时工具调用' })).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN');
  await expect(page.getByRole('textbox', { name: '消息' })).toHaveValue('a draft');
  await page.reload();
  await expect(page.getByRole('heading', { name: '实时工具调用' })).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await expect(page.getByRole('textbox', { name: '消息' })).toHaveValue('a draft');
});

test('nothing moves for those who want no motion', async ({ page, callboard, connect }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const program = await connect.client(callboard, { tools: ['tide.read'] });
  await signIn(page, callboard);
  const id = await invoke(callboard, 'tide.read');
  await program.request();
  await expect(cardOf(page, id).getByRole('progressbar')).toBeVisible();
  expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
});

test('what goes away under the focus leaves it on the card, and never nowhere', async ({
  page,
  startServer,
  connect,
}, testInfo) => {
  const config = await configFile(testInfo, { policy: { ask: ['mail.send'] } });
  const board = await startServer({ env: { CALLBOARD_CONFIG: config } });
  const program = await connect.client(board, { tools: ['mail.send', 'tide.read'] });
  await signIn(page, board);
  await untilReady(page);
  const pressed = async (button: Locator) => {
    await button.focus();
    await page.keyboard.press('Enter');
  };
  const ask = async (tool: string) => {
    const card = cardOf(page, await invoke(board, tool, { to: 'Ada' }));
    await expect(card).toBeVisible();
    return card;
  };

  const edited = await ask('mail.send');
  await pressed(edited.getByRole('button', { name: 'Edit arguments…' }));
  await expect(edited.getByRole('textbox', { name: 'Arguments to allow' })).toBeFocused();
  await pressed(edited.getByRole('button', { name: 'Back' }));
  await expect(edited.getByRole('button', { name: 'Edit arguments…' })).toBeFocused();
  await pressed(edited.getByRole('button', { name: 'Allow once' }));
  program.succeed((await program.request()).id, 'sent');
  await expect(edited).toHaveAttribute('data-status', 'SUCCESS');
  await expect(edited).toBeFocused();

  const denied = await ask('mail.send');
  await pressed(denied.getByRole('button', { name: 'Deny', exact: true }));
  await expect(denied).toHaveAttribute('data-status', 'ERROR');
  await expect(denied).toBeFocused();

  const cancelled = await ask('tide.read');
  const request = await program.request();
  await pressed(cancelled.getByRole('button', { name: 'Cancel', exact: true }));
  await expect(cancelled).toBeFocused();
  program.fail(request.id, 'stopped');
  await expect(cancelled).toHaveAttribute('data-status', 'ERROR');
  await expect(cancelled).toBeFocused();

  const done = await ask('tide.read');
  const { id } = await program.request();
  await done.getByRole('button', { name: 'Cancel', exact: true }).focus();
  program.succeed(id, 'low');
  await expect(done).toHaveAttribute('data-status', 'SUCCESS');
  await expect(done).toBeFocused();

  const menu = done.getByRole('button', { name: /^More for/ });
  await menu.focus();
  await page.keyboard.press('Control+K');
  const palette = page.getByRole('dialog', { name: 'Commands' });
  await expect(palette.getByRole('combobox')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(palette).toBeHidden();
  await expect(menu).toBeFocused();
});
