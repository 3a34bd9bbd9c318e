import type { CDPSession, Page } from '@playwright/test';
import { finalCall, invoke, readCall } from './contract/kit/calls.ts';
import { wholeChromium } from './support/browsers.ts';
import type { PageServer, Told } from './support/page-server.ts';
import { expect, type ToolPages, test } from './support/tool-page-test.ts';
import { cardOf, signIn } from './support/workbench.ts';

/** The tool has begun, and will go on for longer than its page lives. */
const WHILE_IT_RUNS = { nonce: 'n', ms: 60_000 };

async function callInMidRun(
  { board, pages }: ToolPages,
  tool: 'effect' | 'read',
  args: object = WHILE_IT_RUNS,
): Promise<string> {
  const id = await invoke(board, tool, args);
  await pages.until(({ point, call }) => point === tool && call === id);
  return id;
}

const timesRun = (pages: PageServer, id: string, tool: 'effect' | 'read' = 'effect') =>
  pages.told.filter(({ point, call }) => point === tool && call === id).length;

/** The pages that said hello, by load and instance. */
const hellos = (pages: PageServer): readonly Told[] =>
  pages.told.filter(({ point }) => point === 'hello');

/** Calls with an answer in the page's journal, as it is on its disk. */
const journalledAnswers = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const opening = indexedDB.open('callboard-journal');
    await new Promise((opened) => {
      opening.onsuccess = opened;
    });
    const reading = opening.result.transaction('entries').objectStore('entries').getAll();
    await new Promise((read) => {
      reading.onsuccess = read;
    });
    opening.result.close();
    return reading.result.flatMap(({ id, entry }) => (entry.answer ? [id] : []));
  });

/** The process of a page dies; the tab stays, as people see it with "Aw, Snap!". */
async function crash(page: Page): Promise<{ reload(): Promise<void> }> {
  const session: CDPSession = await page.context().newCDPSession(page);
  const crashed = page.waitForEvent('crash');
  // Its answer never comes: there is nobody left to give it.
  session.send('Page.crash').catch(() => {});
  await crashed;
  return { reload: async () => void (await session.send('Page.reload')) };
}

test('a reload in mid-call: what has effects is not run again and says so, what only reads is', async ({
  page,
  context,
  toolPages,
}) => {
  const { board, pages } = toolPages;
  await signIn(page, board);
  const tools = await toolPages.open(context, 'Gate');
  const effect = await callInMidRun(toolPages, 'effect');
  const read = await callInMidRun(toolPages, 'read', { nonce: 'n', ms: 5_000 });
  await expect(cardOf(page, effect).getByTestId('status-chip')).toHaveText('Running');
  await tools.reload();

  const unknown = cardOf(page, effect);
  await expect(unknown).toHaveAttribute('data-status', 'ERROR');
  await expect(unknown.getByTestId('status-chip')).toHaveText('Outcome unknown');
  await expect(unknown.getByTestId('card-cause')).toContainText(
    'It may have run. Check before you repeat it.',
  );
  await expect(cardOf(page, read)).toHaveAttribute('data-status', 'SUCCESS');
  await expect(cardOf(page, read)).toContainText('attempt 2');
  // The page says once more that it does not know; that is no late answer to tell people of.
  await expect(unknown).not.toContainText('An answer arrived after the call had ended');
  expect(await finalCall(board, effect)).toMatchObject({
    status: 'FAILED',
    error: { code: 'outcome_unknown', executed: 'unknown' },
  });
  expect([timesRun(pages, effect), timesRun(pages, read, 'read')]).toEqual([1, 2]);
});

test('a tab that crashed in mid-call is waited for by the clock that the card shows, and comes back', async ({
  page,
  browser,
  toolPages,
}) => {
  const { board, pages } = toolPages;
  await signIn(page, board);
  const context = await browser.newContext();
  const tools = await toolPages.open(context, 'Gate');
  const effect = await callInMidRun(toolPages, 'effect');
  const { reload } = await crash(tools);
  const card = cardOf(page, effect);
  await expect(card).toHaveAttribute('data-status', 'DOING');
  await expect(card.getByTestId('status-chip')).toHaveText('Client away');
  await expect(card.getByTestId('card-time')).toHaveText(/\d+:\d\d left/);
  await reload();
  await expect(card).toHaveAttribute('data-status', 'ERROR');
  await expect(card.getByTestId('status-chip')).toHaveText('Outcome unknown');
  // It came back: that it left is no longer the whole truth.
  await expect(card.getByTestId('card-cause')).toContainText('cannot tell whether the tool ran.');
  await expect(card.getByTestId('card-cause')).not.toContainText('left');
  expect(timesRun(pages, effect)).toBe(1);
  await context.close();
});

test('an answer that was written down while the server was out of reach arrives after a reload', async ({
  page,
  context,
  toolPages,
}) => {
  const { board, pages } = toolPages;
  await signIn(page, board);
  const line = await toolPages.openLine();
  const tools = await toolPages.open(context, 'Gate', line);
  const id = await callInMidRun(toolPages, 'effect', { nonce: 'n', ms: 1_000 });
  line.refuse();
  line.end('rst');
  const card = cardOf(page, id);
  await expect(card.getByTestId('status-chip')).toHaveText('Client away');
  await expect.poll(() => journalledAnswers(tools)).toEqual([id]);
  await tools.reload();
  expect((await readCall(board, id)).status).toBe('RUNNING');
  line.mend();
  await expect(card).toHaveAttribute('data-status', 'SUCCESS');
  expect(await finalCall(board, id)).toMatchObject({
    status: 'SUCCEEDED',
    attempt: 1,
    result: { call: id, by: 'Gate', nonce: 'n' },
  });
  expect(timesRun(pages, id)).toBe(1);
});

test('a page that went into the back/forward cache in mid-call comes back and finishes it', async ({
  page,
  playwright,
  toolPages,
}) => {
  const { board, pages } = toolPages;
  await signIn(page, board);
  // Playwright turns this cache off in every browser that it starts.
  const browser = await playwright.chromium.launch({
    ...wholeChromium,
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });
  const tools = await toolPages.open(await browser.newContext(), 'Gate');
  const id = await callInMidRun(toolPages, 'effect', { nonce: 'n', ms: 3_000 });
  await tools.goto('about:blank');
  const card = cardOf(page, id);
  await expect(card.getByTestId('status-chip')).toHaveText('Client away');
  await expect(card.getByTestId('card-time')).toHaveText(/\d+:\d\d left/);
  // Playwright's own `goBack` waits for a load that never comes: the page was never unloaded. Going
  // back at once would take the page away before it has answered.
  await tools.evaluate(() => void setTimeout(() => history.back()));
  const { life } = await pages.until(({ point }) => point === 'restored');
  await expect(card).toHaveAttribute('data-status', 'SUCCESS');
  expect(hellos(pages).map((hello) => hello.life)).toEqual([life, life]);
  expect([timesRun(pages, id), (await readCall(board, id)).attempt]).toEqual([1, 1]);
  await browser.close();
});
