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
  say,
  signInByToken,
  untilReady,
} from './support/workbench.ts';

interface Tab {
  readonly page: Page;
  /** Of its browser: the tabs of one have one id. */
  readonly clientId: string;
  /** Calls that this tab answered, as its socket sent them. */
  readonly ran: readonly string[];
}

const resultSchema = z.object({ type: z.literal('tool_result'), id: z.string() });

/** A tab of the workbench, which counts what it runs. */
async function openTab(context: BrowserContext, board: Callboard, isFirst: boolean): Promise<Tab> {
  const page = await context.newPage();
  const ran: string[] = [];
  page.on('websocket', (socket) =>
    socket.on('framesent', ({ payload }) => {
      const result = resultSchema.safeParse(JSON.parse(String(payload)));
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

interface Tabs {
  readonly all: readonly Tab[];
  readonly first: Tab;
  readonly second: Tab;
  readonly third: Tab;
  readonly fourth: Tab;
  readonly fifth: Tab;
}

/** Three tabs of one browser and two of another, which is a program of its own. */
const test = base.extend<{ tabs: Tabs }>({
  tabs: async ({ browser, playwright, callboard }, use) => {
    const other = await playwright.chromium.launch();
    const [one, two] = [await browser.newContext(), await other.newContext()];
    const first = await openTab(one, callboard, true);
    const second = await openTab(one, callboard, false);
    const third = await openTab(one, callboard, false);
    const fourth = await openTab(two, callboard, true);
    const fifth = await openTab(two, callboard, false);
    const all = [first, second, third, fourth, fifth];
    expect(new Set(all.map(({ clientId }) => clientId)).size).toBe(2);
    await use({ all, first, second, third, fourth, fifth });
    await other.close();
  },
});

const runs = ({ all }: Tabs) => all.map(({ ran }) => ran.length);

/** A call that an agent makes over HTTP, once it has ended. */
async function call(board: Callboard, more: object = {}) {
  const ended = await finalCall(board, await invoke(board, 'device.info', {}, more));
  expect(ended.status).toBe('SUCCEEDED');
  return ended;
}

const runnersOf = ({ all }: Tabs, id: string): Tab[] => all.filter(({ ran }) => ran.includes(id));

/** Which tab alone ran it; what a tab sent is known here a moment after the server has it. */
const whoRan = async (tabs: Tabs, id: string): Promise<Tab | undefined> => {
  await expect.poll(() => runnersOf(tabs, id).length).toBe(1);
  return runnersOf(tabs, id)[0];
};

/** Touches it until an agent's call goes there: a touch is on its way for a moment. */
const touched = (tabs: Tabs, board: Callboard, tab: Tab, touch: (page: Page) => Promise<unknown>) =>
  expect(async () => {
    await touch(tab.page);
    expect(await whoRan(tabs, (await call(board)).tool_call_id)).toBe(tab);
  }).toPass();

test('of five tabs in two browsers the browser that is named acts, in one tab', async ({
  tabs,
  callboard,
}) => {
  const { first, fifth } = tabs;
  await touched(tabs, callboard, first, (page) => composer(page).click());
  for (const named of [fifth, first, fifth]) {
    const ended = await call(callboard, { client: named.clientId });
    expect(ended.client_id).toBe(named.clientId);
    expect((await whoRan(tabs, ended.tool_call_id))?.clientId).toBe(named.clientId);
  }
});

const sentSchema = z.object({
  input: z.string(),
  client_id: z.string(),
  instance_id: z.string(),
});

/** What the page sends when a person writes the message in it. */
async function sayIn({ page }: Tab, text: string) {
  const isMessage = /^\/v1\/runs(\/[^/]+\/messages)?$/;
  const [request] = await Promise.all([
    page.waitForRequest(
      (one) => one.method() === 'POST' && isMessage.test(new URL(one.url()).pathname),
    ),
    say(page, text),
  ]);
  return sentSchema.parse(request.postDataJSON());
}

/** The one call of a new run that the message begins. */
async function callOf(board: Callboard, message: z.infer<typeof sentSchema>) {
  const { body } = await board.http('POST', '/v1/runs', message);
  const { run_id } = z.object({ run_id: z.string() }).parse(body);
  const ids = async () => {
    const listed = await board.http('GET', `/v1/tool_calls?run_id=${run_id}`);
    const page = z.object({ tool_calls: z.array(z.object({ tool_call_id: z.string() })) });
    return page.parse(listed.body).tool_calls.map(({ tool_call_id }) => tool_call_id);
  };
  await expect.poll(async () => (await ids()).length).toBe(1);
  return finalCall(board, (await ids())[0] ?? '');
}

test('a message that is sent from a tab is served by that tab, whatever is touched meanwhile', async ({
  tabs,
  callboard,
}) => {
  const { second, third, fourth, fifth } = tabs;
  for (const tab of [third, fifth]) {
    const before = tab.ran.length;
    const message = await sayIn(tab, 'Take a screenshot of this page');
    expect(message.client_id).toBe(tab.clientId);
    await expect.poll(() => tab.ran.length).toBe(before + 1);
    // A person is busy in another tab of each browser by the time of the next one.
    for (const other of [second, fourth]) {
      await touched(tabs, callboard, other, (page) => page.mouse.click(5, 5));
    }
    const counts = runs(tabs);
    const made = await callOf(callboard, message);
    expect(made).toMatchObject({ status: 'SUCCEEDED', client_id: tab.clientId });
    expect(await whoRan(tabs, made.tool_call_id)).toBe(tab);
    expect(runs(tabs)).toEqual(counts.map((count, at) => count + Number(tabs.all[at] === tab)));
  }
});

test('an agent’s call goes to the tab that was touched last, by pointer, key or focus; what is answered is no touch; once it is closed, to the one before', async ({
  tabs,
  callboard,
}) => {
  const { first, second, fourth } = tabs;
  const touches: readonly (readonly [Tab, (page: Page) => Promise<unknown>])[] = [
    [second, (page) => page.mouse.click(5, 5)],
    [first, (page) => composer(page).press('a')],
    [fourth, (page) => page.keyboard.press('Tab')],
  ];
  for (const [tab, touch] of touches) {
    await touched(tabs, callboard, tab, touch);
    // The other browser answers, and this one stays the one that was touched.
    const other = tab === fourth ? first : fourth;
    await call(callboard, { client: other.clientId });
    expect(await whoRan(tabs, (await call(callboard)).tool_call_id)).toBe(tab);
  }
  await fourth.page.close();
  // A tab that is being closed may still answer, and what it sends then is not seen here.
  await expect(async () => {
    const { tool_call_id } = await call(callboard);
    await expect.poll(() => runnersOf(tabs, tool_call_id), { timeout: 2_000 }).toEqual([first]);
  }).toPass();
});

const allSchema = z.object({
  results: z.array(z.object({ client_id: z.string(), ok: z.boolean(), tool_call_id: z.string() })),
});

test('for all, each browser acts once, in one tab, and a further device too', async ({
  tabs,
  callboard,
  connect,
}) => {
  const { body } = await callboard.http('GET', '/v1/tools');
  const listed = z
    .object({ tools: z.array(z.looseObject({ name: z.string(), schema: z.json() })) })
    .parse(body)
    .tools.find(({ name }) => name === 'device.info');
  const parameters = z.record(z.string(), z.unknown()).parse(listed?.schema);
  const program = await connect.client(callboard, {
    hello: { client_id: 'gauge', name: 'Gauge' },
    tools: [spec('device.info', { parameters })],
  });
  const id = await invoke(callboard, 'device.info', {}, { client: 'all' });
  const request = await program.request();
  program.succeed(request.id, { of: 'the gauge' });
  const ended = await finalCall(callboard, id);
  const { results } = allSchema.parse(ended.result);
  const { first, fourth } = tabs;
  expect(new Set(results.map(({ client_id }) => client_id))).toEqual(
    new Set([first.clientId, fourth.clientId, 'gauge']),
  );
  expect(results.map(({ ok }) => ok)).toEqual([true, true, true]);
  for (const { client_id, tool_call_id } of results) {
    if (client_id === 'gauge') expect(tool_call_id).toBe(request.id);
    else expect((await whoRan(tabs, tool_call_id))?.clientId).toBe(client_id);
  }
  expect(runs(tabs).reduce((sum, count) => sum + count)).toBe(2);
  const card = cardOf(first.page, id);
  await expect(card.first()).toContainText('All devices');
  await card.getByRole('button', { name: 'What each device was asked' }).click();
  await expect(card.getByTestId('tool-card')).toHaveCount(3);
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
  await touched(tabs, callboard, tabs.first, (page) => composer(page).click());
  const before = runs(tabs);
  const id = await invoke(callboard, 'device.info@gauge', { part: 'battery' });
  expect(await program.request()).toMatchObject({ id, args: { part: 'battery' } });
  program.succeed(id, 'full');
  expect(await finalCall(callboard, id)).toMatchObject({ client_id: 'gauge' });
  expect(runs(tabs)).toEqual(before);
  const { results } = allSchema.parse((await call(callboard, { client: 'all' })).result);
  expect(results.map(({ client_id }) => client_id)).not.toContain('gauge');
});

test('an operator runs a call again on the other browser, by the keyboard, on a narrow screen', async ({
  tabs,
  callboard,
  connect,
}) => {
  const { first, fifth } = tabs;
  await connect.client(callboard, {
    hello: { client_id: 'kiosk', name: `Kiosk ${'in-the-hall-'.repeat(5)}` },
    tools: [spec('device.info')],
  });
  const { page } = first;
  const ended = await call(callboard, { client: first.clientId });
  const card = cardOf(page, ended.tool_call_id);
  await expect(card).toHaveAttribute('data-status', 'SUCCESS');
  await chooseInMenu(page, card, 'Run on another device…');
  const dialog = page.getByRole('dialog', { name: 'Run device.info on another device' });
  const choice = (tab: Tab) => dialog.locator(`[data-client="${tab.clientId}"]`);
  await expect(choice(first)).toContainText('It ran this call');
  await page.setViewportSize({ width: 360, height: 640 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await expect(dialog.getByRole('button', { name: 'Kiosk' })).toBeVisible();
  const cut = (buttons: Element[]) =>
    buttons.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length;
  expect(await dialog.getByRole('button').evaluateAll(cut)).toBe(0);
  await choice(fifth).focus();
  await page.keyboard.press('Enter');
  await expect(dialog).toBeHidden();
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect(cardsFor(page, 'device.info')).toHaveCount(2);
  const again = cardsFor(page, 'device.info').first();
  await expect(again).toHaveAttribute('data-status', 'SUCCESS');
  const id = await callIdOf(again);
  const record = await finalCall(callboard, id);
  expect(record).toMatchObject({ client_id: fifth.clientId, args: ended.args });
  expect((await whoRan(tabs, id))?.clientId).toBe(fifth.clientId);
});
