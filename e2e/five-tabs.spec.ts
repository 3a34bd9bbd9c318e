import type { BrowserContext, Page } from '@playwright/test';
import { z } from 'zod';
import { finalCall, invoke } from './contract/kit/calls.ts';
import { test as base, expect } from './contract/kit/contract-test.ts';
import type { Callboard } from './start-callboard.ts';
import { composer, say, signInByToken, untilReady } from './support/workbench.ts';

interface Tab {
  readonly page: Page;
  /** The id of its browser: the tabs of one have one id. */
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

const sentSchema = z.object({
  input: z.string(),
  client_id: z.string(),
  instance_id: z.string(),
});

/** The page sends this when a person writes the message in it. */
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

test('of five tabs in two browsers the one that is named acts, and a message is served by the tab that sent it', async ({
  tabs,
  callboard,
}) => {
  const { first, second, third, fourth, fifth } = tabs;
  await touched(tabs, callboard, first, (page) => composer(page).click());
  for (const named of [fifth, first, fifth]) {
    const ended = await call(callboard, { client: named.clientId });
    expect(ended.client_id).toBe(named.clientId);
    expect((await whoRan(tabs, ended.tool_call_id))?.clientId).toBe(named.clientId);
  }
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
