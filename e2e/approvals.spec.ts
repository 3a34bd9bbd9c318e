import type { Browser, Page } from '@playwright/test';
import { get, post } from './contract/kit/ask.ts';
import { finalCall, invoke, readCall } from './contract/kit/calls.ts';
import { asToken, makeToken } from './contract/kit/tokens.ts';
import { reader } from './contract/kit/tool-client.ts';
import { type Callboard, startCallboard } from './start-callboard.ts';
import { askingOptions, expect, GATE, test } from './support/asking-board.ts';
import { outside } from './support/outside-screen.ts';
import { cardOf, connection, signIn, signInByToken } from './support/workbench.ts';

/** A browser of a person's own. */
async function personAt(
  browser: Browser,
  board: Callboard,
  [name, role]: [string, 'operator' | 'viewer'],
): Promise<Page> {
  const token = await makeToken(board, { kind: 'operator', name, role });
  const page = await (await browser.newContext()).newPage();
  await signInByToken(page, asToken(board, token), '/approvals');
  await expect(connection(page)).toHaveAttribute('data-state', 'connected');
  return page;
}

const waiting = (page: Page) => page.getByRole('list', { name: 'Waiting' }).getByRole('article');
const decided = (page: Page) => page.getByRole('list', { name: 'Decided' }).getByRole('article');
const badge = (page: Page) => page.getByTestId('approvals');

test('in the inbox one is approved, one edited and approved, one denied with a reason', async ({
  page,
  startAsking,
}) => {
  const { board, program } = await startAsking();
  await signIn(page, board);
  await expect(badge(page)).toBeHidden();
  const [plain, edited, denied] = [
    await invoke(board, 'gate.open', { gate: 1 }, { run_id: 'run_a' }),
    await invoke(board, 'gate.open', { gate: 2, hurry: true }, { run_id: 'run_b' }),
    await invoke(board, 'gate.open', { gate: 3 }, { run_id: 'run_c' }),
  ];
  await expect(badge(page)).toHaveAccessibleName('3 approvals wait');
  await badge(page).click();
  await page.waitForURL('**/approvals');
  await expect(waiting(page)).toHaveCount(3);
  await expect(page.getByText(/^Asked by operator now/).first()).toBeVisible();
  await expect(page.getByRole('link', { name: 'in run_b' })).toHaveAttribute(
    'href',
    `/?run=run_b#call=${edited}`,
  );

  await cardOf(page, plain).getByRole('button', { name: 'Allow once' }).click();
  const first = await program.request();
  expect([first.id, first.args]).toEqual([plain, { gate: 1 }]);
  program.succeed(plain, 'open');

  const card = cardOf(page, edited);
  await card.getByRole('button', { name: 'Edit arguments…' }).click();
  await card.getByRole('textbox').fill('{"gate": 4}');
  await card.getByRole('button', { name: 'Allow with these' }).click();
  const second = await program.request();
  expect([second.id, second.args]).toEqual([edited, { gate: 4 }]);
  program.succeed(edited, 'open');
  await expect(card).toContainText('with edited arguments');
  await expect(card).not.toContainText('hurry');
  const sent = await get(board, `/v1/tool_calls/${edited}/model_output`);
  expect(sent.text).toContain('A person changed the arguments');

  await cardOf(page, denied).getByRole('button', { name: 'Deny with a reason…' }).click();
  await cardOf(page, denied)
    .getByRole('textbox', { name: /^Reason/ })
    .fill('it is stormy');
  await cardOf(page, denied).getByRole('button', { name: 'Deny', exact: true }).click();
  expect((await finalCall(board, denied)).error).toMatchObject({
    ...{ code: 'denied', executed: 'no' },
    message: expect.stringContaining('it is stormy'),
  });
  await expect(page.getByText('Nothing waits for a decision.')).toBeVisible();
  await expect(decided(page)).toHaveCount(3);
  await expect(badge(page)).toBeHidden();
});

test('of two operators at once the first decides, and the second sees whose decision it was', async ({
  browser,
  startAsking,
}) => {
  const { board } = await startAsking();
  const id = await invoke(board, 'gate.open', { gate: 1 });
  const olga = await personAt(browser, board, ['olga', 'operator']);
  const otto = await personAt(browser, board, ['otto', 'operator']);
  for (const page of [olga, otto]) await expect(waiting(page)).toHaveCount(1);
  // What Otto's page is shown of it comes only once his own decision is on its way.
  const held = Promise.withResolvers<void>();
  await olga.route('**/approval', async (route) => {
    await route.continue();
    held.resolve();
  });
  await otto.route('**/approval', async (route) => {
    await held.promise;
    await expect.poll(async () => (await readCall(board, id)).phase).not.toBe('approval');
    await route.continue();
  });
  const answered = otto.waitForResponse('**/approval');
  await otto.getByRole('button', { name: 'Deny', exact: true }).click();
  await olga.getByRole('button', { name: 'Allow once' }).click();
  const refused = await answered;
  expect(refused.status()).toBe(409);
  expect(await refused.text()).toContain('operator:olga allowed it before');
  for (const page of [olga, otto]) {
    await expect(decided(page)).toContainText('Allowed by operator:olga');
  }
});

test('a pending approval is there after a restart, with the time that it had left', async ({
  page,
  connect,
}, testInfo) => {
  const options = { ...(await askingOptions(testInfo)), token: 'a-token-that-two-servers-have' };
  const before = await startCallboard(options);
  await connect.client(before, { tools: [GATE] });
  const id = await invoke(before, 'gate.open', { gate: 1 });
  await before.stop('SIGKILL');
  const board = await startCallboard({ ...options, dataDir: before.dataDir });
  try {
    const program = await connect.client(board, { tools: [GATE] });
    await signInByToken(page, board, '/approvals');
    await expect(waiting(page)).toHaveCount(1);
    await expect(badge(page)).toHaveText(/^1/);
    await cardOf(page, id).getByRole('button', { name: 'Allow once' }).click();
    // Its client is another one now: a person is asked anew before it runs there.
    await expect(page.getByText('has changed since').first()).toBeVisible();
    await cardOf(page, id).getByRole('button', { name: 'Allow once' }).click();
    expect((await program.request()).id).toBe(id);
  } finally {
    await board.remove();
  }
});

test('80 equal approvals are one decision', async ({ page, startAsking }) => {
  const { board, program } = await startAsking();
  const ids = await Promise.all(
    Array.from({ length: 80 }, () => invoke(board, 'gate.open', { gate: 1 })),
  );
  await signIn(page, board);
  await expect(badge(page)).toHaveAccessibleName('1 approval waits');
  await page.goto(`${board.url}/approvals`);
  await expect(waiting(page)).toHaveCount(1);
  await expect(page.getByText('One decision for 80 equal calls.')).toBeVisible();
  await page.getByRole('button', { name: 'Allow once' }).click();
  const asked = new Set<string>();
  for (const _ of ids) asked.add((await program.request()).id);
  expect(asked).toEqual(new Set(ids));
  await expect(badge(page)).toBeHidden();
  await expect(decided(page)).toHaveCount(1);
  await expect(decided(page)).toContainText(
    /Allowed by operator · One decision for 80 equal calls/,
  );
});

test('a sixth question of a run waits its turn, and a viewer sees the five and decides none', async ({
  browser,
  startAsking,
}) => {
  const { board } = await startAsking();
  const ids: string[] = [];
  for (let gate = 1; gate <= 6; gate += 1) ids.push(await invoke(board, 'gate.open', { gate }));
  expect((await readCall(board, ids[5] ?? '')).phase).toBe('held');
  const page = await personAt(browser, board, ['vera', 'viewer']);
  await expect(waiting(page)).toHaveCount(5);
  for (const name of ['Allow once', 'Deny', 'Edit arguments…', 'Deny with a reason…']) {
    await expect(page.getByRole('button', { name, exact: true })).toHaveCount(0);
  }
  const vera = await makeToken(board, { kind: 'operator', name: 'vera2', role: 'viewer' });
  const path = `/v1/tool_calls/${ids[0]}/approval`;
  expect((await post(asToken(board, vera), path, { decision: 'yes' })).status).toBe(403);
});

/** Where a click on a button of this card would go. */
async function middleOf(page: Page, callId: string, name: string) {
  const button = cardOf(page, callId).getByRole('button', { name, exact: true });
  const box = await button.boundingBox();
  if (!box) throw new Error(`There is no button ${name}`);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

const phaseOf = async (board: Callboard, id: string) => (await readCall(board, id)).phase;

test('[AP13] a double click on "Allow once" in the inbox allows one call', async ({
  page,
  startAsking,
}) => {
  const { board } = await startAsking();
  const ids: string[] = [];
  for (const gate of [1, 2, 3]) ids.push(await invoke(board, 'gate.open', { gate }));
  const [first = '', second = ''] = ids;
  // The second click comes in the same moment of the page, however long the machine takes.
  await page.addInitScript(() => {
    const now = performance.now.bind(performance);
    let stopped: number | undefined;
    performance.now = () => stopped ?? now();
    addEventListener('stop-time', () => {
      stopped = now();
    });
  });
  await signInByToken(page, board, '/approvals');
  await expect(waiting(page)).toHaveCount(3);
  const at = await middleOf(page, first, 'Allow once');
  await page.evaluate(() => dispatchEvent(new Event('stop-time')));
  await page.mouse.click(at.x, at.y);
  await page.waitForFunction(
    (id) => document.querySelector<HTMLElement>('[data-testid="tool-card"]')?.dataset.callId === id,
    second,
  );
  await page.mouse.click(at.x, at.y);
  await expect(page.getByText('The list moved just now')).toBeVisible();
  expect(await phaseOf(board, second)).toBe('approval');
  await expect(waiting(page)).toHaveCount(2);
});

test('[IB11] a card that another operator decides stays under the pointer, and a click there decides nothing', async ({
  page,
  startAsking,
}) => {
  const { board } = await startAsking();
  const first = await invoke(board, 'gate.open', { gate: 1 });
  const second = await invoke(board, 'gate.open', { gate: 2 });
  await signInByToken(page, board, '/approvals');
  await expect(waiting(page)).toHaveCount(2);
  const at = await middleOf(page, first, 'Allow once');
  await page.mouse.move(at.x, at.y);
  await expect(page.locator('[data-held]')).toHaveCount(1);
  const before = await cardOf(page, second).boundingBox();
  await post(board, `/v1/tool_calls/${first}/approval`, { decision: 'no' });
  await expect(cardOf(page, first)).toContainText('Denied by');
  await page.mouse.click(at.x, at.y);
  expect(await cardOf(page, second).boundingBox()).toEqual(before);
  expect(await phaseOf(board, second)).toBe('approval');
  await page.mouse.move(1, 1);
  await expect(decided(page)).toHaveCount(1);
});

test('[AP14] a call that comes while the pointer rests on a decision does not move the card', async ({
  page,
  startAsking,
}) => {
  const { board, program } = await startAsking();
  const first = await invoke(board, 'gate.open', { gate: 1 });
  await signIn(page, board);
  await expect(cardOf(page, first)).toBeVisible();
  const at = await middleOf(page, first, 'Allow once');
  await page.mouse.move(at.x, at.y);
  await expect(page.locator('[data-held]')).toHaveCount(1);
  const second = await invoke(board, 'gate.open', { gate: 2 });
  await expect(page.getByTestId('fresh-calls')).toContainText('1 call needs approval');
  await page.mouse.click(at.x, at.y);
  expect((await program.request()).id).toBe(first);
  expect(await phaseOf(board, second)).toBe('approval');
});

test('[AP12] what is typed when another operator decides stays, and no key of it acts', async ({
  page,
  startAsking,
}, testInfo) => {
  const { board } = await startAsking();
  for (const path of ['/', '/approvals']) {
    const id = await invoke(board, 'gate.open', { gate: path.length });
    await signInByToken(page, board, path);
    const card = cardOf(page, id);
    await card.getByRole('button', { name: 'Deny with a reason…' }).click();
    await page.keyboard.type('no, the e');
    await post(board, `/v1/tool_calls/${id}/approval`, { decision: 'yes' });
    await expect(card.getByTestId('kept-text')).toContainText('allowed this before you');
    await page.keyboard.type('xact reason, g a');
    await expect(card.getByRole('textbox')).toHaveValue('no, the exact reason, g a');
    expect((await readCall(board, id)).status).toBe('RUNNING');
    expect(new URL(page.url()).pathname).toBe(path);
    await testInfo.attach(`kept ${path}`, {
      body: await page.screenshot(),
      contentType: 'image/png',
    });
    await page.keyboard.press('Escape');
    await expect(card.getByTestId('kept-text')).toBeHidden();
  }
});

for (const colorScheme of ['dark', 'light'] as const) {
  test.describe(`on a narrow ${colorScheme} screen`, () => {
    test.use({
      viewport: { width: 360, height: 740 },
      colorScheme,
      isMobile: true,
      hasTouch: true,
    });

    test('the inbox and the number in the header fit', async ({ page, startAsking }, testInfo) => {
      const { board } = await startAsking();
      for (let gate = 1; gate <= 3; gate += 1) {
        await invoke(
          board,
          'gate.open',
          { gate, hurry: true },
          { run_id: `run_${'long'.repeat(9)}_${gate}` },
        );
      }
      await signIn(page, board);
      for (const width of [360, 320]) {
        await page.setViewportSize({ width, height: 740 });
        await page.goto(`${board.url}/approvals`);
        await expect(waiting(page)).toHaveCount(3);
        await expect(badge(page)).toBeVisible();
        expect(await outside(page), `approvals, ${width}`).toEqual([]);
        await page.getByRole('button', { name: 'Deny with a reason…' }).first().click();
        await expect(page.getByRole('textbox', { name: /^Reason/ })).toBeFocused();
        expect(await outside(page), `with a reason, ${width}`).toEqual([]);
        await testInfo.attach(`${width}`, {
          body: await page.screenshot(),
          contentType: 'image/png',
        });
      }
    });
  });
}

/** Three seconds of a line of 20 kB/s. */
const FIRST_BYTES = 60 * 1024;

test('with a long history the first decision takes 60 KiB of the feed, and its outcome no more of the history', async ({
  page,
  startAsking,
}) => {
  const { board, program } = await startAsking([GATE, reader('note')]);
  for (let n = 0; n < 210; n += 1) {
    await invoke(board, 'note', { text: 'a'.repeat(900) }, { run_id: `run_${n % 30}` });
    const { id } = await program.request();
    program.succeed(id, 'b'.repeat(900));
    if (n === 209) await finalCall(board, id);
  }
  const asked = await invoke(board, 'gate.open', { gate: 1 }, { run_id: 'run_a' });
  let bytes = 0;
  const parts = Promise.withResolvers<void>();
  await page.routeWebSocket(/\/ws\/watch$/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage(async (frame) => {
      if (JSON.parse(String(frame)).type === 'ended') await parts.promise;
      else bytes += Buffer.byteLength(frame);
      socket.send(frame);
    });
  });
  await signInByToken(page, board, '/approvals');
  await expect(waiting(page)).toHaveCount(1);
  expect(bytes).toBeLessThanOrEqual(FIRST_BYTES);
  await cardOf(page, asked).getByRole('button', { name: 'Allow once' }).click();
  program.succeed((await program.request()).id, 'open');
  await expect(cardOf(page, asked)).toHaveAttribute('data-status', 'SUCCESS');
  // The history is shown once it comes.
  await page.getByRole('link', { name: 'Callboard' }).first().click();
  const counts = page.getByTestId('live-counts');
  await expect(counts).toContainText('1 call');
  parts.resolve();
  await expect(counts).toContainText('200 calls');
});

test('no page scrolls beyond its end, however long it is', async ({ page, startAsking }) => {
  const { board } = await startAsking();
  for (const n of [1, 2, 3, 4, 5]) await invoke(board, 'gate.open', { gate: n });
  await page.setViewportSize({ width: 800, height: 400 });
  await signIn(page, board);
  for (const path of ['/approvals', '/', '/tools', '/devices', '/docs', '/settings/access']) {
    await page.goto(`${board.url}${path}`);
    await expect(connection(page)).toHaveAttribute('data-state', 'connected');
    if (path === '/approvals') await expect(waiting(page)).toHaveCount(5);
    const beyond = () => page.evaluate(() => document.documentElement.scrollHeight - innerHeight);
    expect(await beyond(), path).toBe(0);
  }
});

test('[CD50] a browser whose clock is an hour off shows what is left by the server’s clock', async ({
  page,
  startAsking,
}) => {
  const { board } = await startAsking();
  const id = await invoke(board, 'gate.open', { gate: 1 });
  await page.addInitScript(() => {
    const Real = Date;
    const HOUR = 3_600_000;
    globalThis.Date = class extends Real {
      constructor(...args: unknown[]) {
        super(...((args.length === 0 ? [Real.now() + HOUR] : args) as [number]));
      }
      static override now() {
        return Real.now() + HOUR;
      }
    } as DateConstructor;
  });
  await signIn(page, board);
  for (const path of ['/', '/approvals']) {
    await page.goto(`${board.url}${path}`);
    await expect(cardOf(page, id).getByTestId('card-time')).toContainText(
      /^(9:[0-5]\d|10:00) left/,
    );
  }
  await expect(page.getByText(/^Asked by operator now/)).toBeVisible();
});
