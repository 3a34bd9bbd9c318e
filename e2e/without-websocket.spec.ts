import type { Page } from '@playwright/test';
import { get } from './contract/kit/ask.ts';
import { finalCall, invoke, readCall } from './contract/kit/calls.ts';
import { expect, test } from './fixtures.ts';
import type { Callboard } from './start-callboard.ts';
import { signIn } from './support/workbench.ts';

/** The tag of a page runs in one that the server serves, which allows no script but its own. */
test.use({ bypassCSP: true });

const offers = async (board: Callboard, name: string): Promise<boolean> =>
  (await get(board, '/v1/tools')).text.includes(`"${name}"`);

/** The browser is one where a network or a certificate lets no WebSocket through. */
const withoutWebSocket = (page: Page) =>
  page.routeWebSocket(/\/ws\/client$/, (socket) => void socket.close({ code: 4000 }));

test('where no WebSocket opens, a tab of the workbench is a client all the same', async ({
  page,
  callboard,
}) => {
  await withoutWebSocket(page);
  await signIn(page, callboard);
  await expect.poll(() => offers(callboard, 'device.info'), { timeout: 20_000 }).toBe(true);
  const id = await invoke(callboard, 'device.info');
  expect(await finalCall(callboard, id)).toMatchObject({ status: 'SUCCEEDED' });
});

/** A page with the script tag, whose tool ends when the test lets it. */
async function openTagged(page: Page, board: Callboard): Promise<void> {
  await page.goto(`${board.url}/sign-in`);
  await page.evaluate((token) => {
    const tag = document.createElement('script');
    tag.src = '/client.js';
    tag.dataset.token = token;
    document.head.append(tag);
    return new Promise((resolve) => {
      tag.onload = resolve;
    });
  }, board.token);
  await page.evaluate(`
    window.runs = [];
    window.held = Promise.withResolvers();
    callboard.tool({
      name: 'door.open',
      description: 'Opens the door',
      annotations: { readOnlyHint: true },
      timeoutMs: 60000,
      execute: (args) => { runs.push(args); return held.promise; },
    });
    undefined;
  `);
}

test('over a stream a call goes on through a restart of the server, runs once, and is answered once', async ({
  page,
  startServer,
}) => {
  const first = await startServer();
  await withoutWebSocket(page);
  await openTagged(page, first);
  await expect.poll(() => offers(first, 'door.open'), { timeout: 20_000 }).toBe(true);
  const id = await invoke(first, 'door.open', { door: 'front' });
  const runs = () => page.evaluate<unknown[]>('runs');
  await expect.poll(async () => (await runs()).length).toBe(1);
  expect((await readCall(first, id)).phase).toBe('granted');

  await first.stop('SIGKILL');
  const { dataDir, token } = first;
  const env = { CALLBOARD_PORT: new URL(first.url).port };
  const board = await startServer({ dataDir, token, env });
  await page.evaluate(`held.resolve('open')`);
  await expect.poll(() => offers(board, 'door.open'), { timeout: 20_000 }).toBe(true);
  expect(await finalCall(board, id)).toMatchObject({ status: 'SUCCEEDED', result: 'open' });
  expect(await runs()).toEqual([{ door: 'front' }]);
  const { events } = (await get(board, `/v1/tool_calls/${id}/events`)).body as {
    events: { type: string }[];
  };
  expect(events.filter(({ type }) => type === 'answered')).toHaveLength(1);
  const again = await invoke(board, 'door.open');
  expect(await finalCall(board, again)).toMatchObject({ status: 'SUCCEEDED', result: 'open' });
});
