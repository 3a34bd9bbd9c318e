import type { BrowserContext } from '@playwright/test';
import { invoke, readCall } from './contract/kit/calls.ts';
import type { BreakableLine } from './support/breakable-line.ts';
import { expect, lineUrl, type ToolPages, test } from './support/tool-page-test.ts';
import { cardOf, connection, signInByToken } from './support/workbench.ts';

/** The longest absence, and the half minute for coming back after it, with room for a busy machine. */
test.describe.configure({ timeout: 240_000 });

interface Absence {
  readonly ms: number;
  /** In Chromium `setOffline` lets open sockets be, and only holds what they carry: the line breaks by itself. */
  begin(context: BrowserContext, line: BreakableLine): Promise<void>;
}

const ABSENCES: readonly Absence[] = [
  // A blink: the page never learns that it was offline, only that its sockets are gone.
  { ms: 1_300, begin: async (_context, line) => line.cut() },
  {
    ms: 8_000,
    async begin(context, line) {
      line.cut();
      await context.setOffline(true);
    },
  },
  // Nobody is told: both sides have to find out by themselves. A second less than the resume grace.
  {
    ms: 119_000,
    async begin(context, line) {
      line.silence();
      await context.setOffline(true);
    },
  },
];

/**
 * One browser with an operator's tab and a page with tools, both over one line.
 * The call's tool ends while they are away.
 */
async function beAway(toolPages: ToolPages, context: BrowserContext, { ms, begin }: Absence) {
  const { board, pages } = toolPages;
  const line = await toolPages.openLine();
  const name = `Away ${ms}`;
  const operator = await context.newPage();
  await signInByToken(operator, { ...board, url: lineUrl(line) });
  await toolPages.open(context, name, line);
  const { client } = await pages.until((told) => told.point === 'welcome' && told.name === name);
  const id = await invoke(
    board,
    'effect',
    { nonce: name, ms: ms * 0.75 },
    { client: client ?? '', timeout_ms: 300_000 },
  );
  await pages.until(({ point, call }) => point === 'effect' && call === id);
  const card = cardOf(operator, id);
  // The shortest tool would be over by then.
  if (ms > 2_000) await expect(card).toBeVisible();
  const back = new Promise((resolve) => setTimeout(resolve, ms));
  await begin(context, line);
  if (ms > 2_000) {
    await expect(connection(operator)).not.toHaveAttribute('data-state', 'connected');
    await expect(card).toHaveAttribute('data-stale', '');
  }
  await back;
  expect((await readCall(board, id)).status).toBe('RUNNING');
  line.mend();
  await context.setOffline(false);

  await expect(connection(operator)).toHaveAttribute('data-state', 'connected');
  await expect(card).toHaveAttribute('data-status', 'SUCCESS');
  expect(await readCall(board, id)).toMatchObject({
    status: 'SUCCEEDED',
    attempt: 1,
    result: { call: id, by: name, nonce: name },
  });
  expect(pages.effects().get(id)).toBe(1);
}

// Two minutes of waiting, nearly all of it idle: the three at once in one worker, beside the other tests.
test('after 1.3, 8 and 119 seconds away in mid-call the card is right, and the tool ran once', async ({
  browser,
  toolPages,
}) => {
  await Promise.all(
    ABSENCES.map(async (absence) => {
      const context = await browser.newContext();
      await beAway(toolPages, context, absence);
      await context.close();
    }),
  );
});
