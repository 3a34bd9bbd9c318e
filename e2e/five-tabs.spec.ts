import type { BrowserContext, Page } from '@playwright/test';
import { z } from 'zod';
import { finalCall, invoke } from './contract/kit/calls.ts';
import { test as base, expect } from './contract/kit/contract-test.ts';
import { spec } from './contract/kit/tool-client.ts';
import type { Callboard } from './start-callboard.ts';
import {
  callIdOf,
  cardOf,
  cardsFor,
  chooseInMenu,
  composer,
  conversation,
  say,
  signInByToken,
  untilReady,
} from './support/workbench.ts';

interface Tab {
  readonly page: Page;
  readonly clientId: string;
  /** Calls that this tab answered, as its socket sent them. */
  readonly ran: readonly string[];
}

/** A tab of the workbench, which counts what it runs. */
async function openTab(context: BrowserContext, board: Callboard, isFirst: boolean): Promise<Tab> {
  const page = await context.newPage();
  const ran: string[] = [];
  page.on('websocket', (socket) =>
    socket.on('framesent', ({ payload }) => {
      const sent: unknown = JSON.parse(String(payload));
      const result = z.object({ type: z.literal('tool_result'), id: z.string() }).safeParse(sent);
      if (result.success) ran.push(result.data.id);
    }),
  );
  if (isFirst) await signInByToken(page, board);
  else await page.goto(board.url);
  await untilReady(page);
  const known = await page.waitForFunction(
    () => JSON.parse(sessionStorage.getItem('callboard:client') ?? '{}').clientId,
  );
  return { page, clientId: z.string().parse(await known.jsonValue()), ran };
}

/** Three tabs of one browser and two of another, a program of its own. */
const test = base.extend<{ tabs: readonly Tab[] }>({
  tabs: async ({ browser, playwright, callboard }, use) => {
    const other = await playwright.chromium.launch();
    const tabs: Tab[] = [];
    for (const [one, count] of [
      [browser, 3],
      [other, 2],
    ] as const) {
      const context = await one.newContext();
      for (let at = 0; at < count; at += 1) tabs.push(await openTab(context, callboard, at === 0));
    }
    await use(tabs);
    await other.close();
  },
});

const runs = (tabs: readonly Tab[]) => tabs.map(({ ran }) => ran.length);

/** Who ran a call of `device.info` that was made over HTTP. */
async function askedOverHttp(board: Callboard, more: object = {}) {
  const call = await finalCall(board, await invoke(board, 'device.info', {}, more));
  expect(call.status).toBe('SUCCEEDED');
  return call;
}

test('of five tabs in two browsers the one that is named acts, and no other', async ({
  tabs,
  callboard,
}) => {
  for (const [at, tab] of tabs.entries()) {
    const call = await askedOverHttp(callboard, { client: tab.clientId });
    expect(call.client_id).toBe(tab.clientId);
    expect(tab.ran).toEqual([call.tool_call_id]);
    expect(runs(tabs)).toEqual(tabs.map((_, other) => (other <= at ? 1 : 0)));
  }
});

test('a message that is sent from the third tab is served by the third tab', async ({
  tabs,
  callboard,
}) => {
  const [first, , third, , fifth] = tabs;
  if (!first || !third || !fifth) throw new Error('five tabs');
  for (const tab of [third, fifth]) {
    await say(tab.page, 'Take a screenshot of this page');
    const line = conversation(tab.page).getByTestId('call-line');
    await expect(line).toHaveCount(1);
    // A person is busy in another one meanwhile.
    await composer(first.page).click();
    const call = await finalCall(callboard, (await line.getAttribute('data-call-id')) ?? '');
    expect(call).toMatchObject({ status: 'SUCCEEDED', client_id: tab.clientId });
    expect(tab.ran).toEqual([call.tool_call_id]);
  }
  expect(runs(tabs)).toEqual([0, 0, 1, 0, 1]);
});

test('a call over HTTP goes to the tab that was touched last, by key, pointer or focus; once that is closed, to the one before', async ({
  tabs,
  callboard,
}) => {
  const [first, second, , fourth] = tabs;
  if (!first || !second || !fourth) throw new Error('five tabs');
  const touches: readonly (readonly [Tab, (page: Page) => Promise<unknown>])[] = [
    [second, (page) => page.mouse.click(5, 5)],
    [first, (page) => composer(page).press('a')],
    [fourth, (page) => page.keyboard.press('Tab')],
  ];
  for (const [tab, touch] of touches) {
    // A touch is on its way; what others answer, and what they are asked, is none.
    await expect(async () => {
      await touch(tab.page);
      expect((await askedOverHttp(callboard)).client_id).toBe(tab.clientId);
    }).toPass();
    const named = tab === second ? fourth : second;
    await askedOverHttp(callboard, { client: named.clientId });
    expect((await askedOverHttp(callboard)).client_id).toBe(tab.clientId);
  }
  await fourth.page.close();
  await expect.poll(async () => (await askedOverHttp(callboard)).client_id).toBe(first.clientId);
});

const allSchema = z.object({
  results: z.array(z.object({ client_id: z.string(), ok: z.boolean(), tool_call_id: z.string() })),
});

test('for all, each of the five tabs acts once, and their answers are one result', async ({
  tabs,
  callboard,
}) => {
  const call = await askedOverHttp(callboard, { client: 'all' });
  const { results } = allSchema.parse(call.result);
  expect(results.map(({ ok }) => ok)).toEqual([true, true, true, true, true]);
  for (const { clientId, ran } of tabs) {
    const own = results.filter(({ client_id }) => client_id === clientId);
    expect(own.map(({ tool_call_id }) => tool_call_id)).toEqual(ran);
  }
  expect(runs(tabs)).toEqual([1, 1, 1, 1, 1]);
  const [first] = tabs;
  if (!first) throw new Error('five tabs');
  const card = cardOf(first.page, call.tool_call_id);
  await expect(card).toContainText('All devices');
  await card.getByRole('button', { name: 'What each device was asked' }).click();
  await expect(card.getByTestId('tool-card')).toHaveCount(5);
});

test('a client whose tool takes other arguments is asked by its own name alone', async ({
  tabs,
  callboard,
  connect,
}) => {
  const parameters = { type: 'object', properties: { part: { type: 'string' } } };
  const program = await connect.client(callboard, {
    hello: { client_id: 'gauge', name: 'Gauge' },
    tools: [spec('device.info', { parameters })],
  });
  const [first] = tabs;
  if (!first) throw new Error('five tabs');
  await expect(async () => {
    await composer(first.page).click();
    expect((await askedOverHttp(callboard)).client_id).toBe(first.clientId);
  }).toPass();
  const before = runs(tabs);
  const id = await invoke(callboard, 'device.info@gauge', { part: 'battery' });
  const request = await program.request();
  expect(request).toMatchObject({ id, args: { part: 'battery' } });
  program.succeed(id, 'full');
  expect(await finalCall(callboard, id)).toMatchObject({ client_id: 'gauge' });
  expect(runs(tabs)).toEqual(before);
  const all = allSchema.parse((await askedOverHttp(callboard, { client: 'all' })).result);
  expect(all.results.map(({ client_id }) => client_id)).not.toContain('gauge');
});

test('an operator runs a call again on a tab of the other browser, by the keyboard, on a narrow screen', async ({
  tabs,
  callboard,
}) => {
  const [first, , , , fifth] = tabs;
  if (!first || !fifth) throw new Error('five tabs');
  const { page } = first;
  const call = await askedOverHttp(callboard, { client: first.clientId });
  const card = cardOf(page, call.tool_call_id);
  await expect(card).toHaveAttribute('data-status', 'SUCCESS');
  await chooseInMenu(page, card, 'Run on another device…');
  const dialog = page.getByRole('dialog', { name: 'Run device.info on another device' });
  await expect(dialog.locator(`[data-client="${first.clientId}"]`)).toContainText(
    'It ran this call',
  );
  await page.setViewportSize({ width: 360, height: 640 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await dialog.locator(`[data-client="${fifth.clientId}"]`).focus();
  await page.keyboard.press('Enter');
  await expect(dialog).toBeHidden();
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect(cardsFor(page, 'device.info')).toHaveCount(2);
  const again = cardsFor(page, 'device.info').first();
  await expect(again).toHaveAttribute('data-status', 'SUCCESS');
  const record = await finalCall(callboard, await callIdOf(again));
  expect(record).toMatchObject({ client_id: fifth.clientId, args: call.args });
  expect(runs(tabs)).toEqual([1, 0, 0, 0, 1]);
});
