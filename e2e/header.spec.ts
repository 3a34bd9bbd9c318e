import type { Locator } from '@playwright/test';
import { invoke } from './contract/kit/calls.ts';
import { expect, test } from './support/asking-board.ts';
import { connection, signIn, untilReady } from './support/workbench.ts';

const WIDTHS = [1536, 1280, 1024, 900, 768, 360];

/** True when all of its words are in view, within the screen. */
const isWhole = (words: Locator) =>
  words.evaluate((element) => {
    const { left, right } = element.getBoundingClientRect();
    const fits = element.scrollWidth <= element.clientWidth || element.clientWidth === 0;
    return fits && left >= 0 && right <= window.innerWidth && right - left >= 24;
  });

/** Words that are broken over two lines. */
const brokenWords = (words: Locator) =>
  words.evaluate((element) => {
    const broken: string[] = [];
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      for (const { 0: word, index } of (node.textContent ?? '').matchAll(/[\w-]+/g)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        if (range.getClientRects().length > 1) broken.push(word);
      }
    }
    return broken;
  });

test('[SH1] the state of the connection is readable at each width', async ({
  page,
  context,
  startAsking,
}) => {
  const { board } = await startAsking();
  await signIn(page, board);
  await untilReady(page);
  await invoke(board, 'gate.open', {}, { run_id: 'run_a' });
  await page.goto(`${board.url}/settings/policy`);
  await page.getByRole('radio', { name: /^read only/ }).check();
  await page.getByRole('button', { name: 'Switch', exact: true }).click();
  await expect(page.getByTestId('autonomy-badge')).toBeVisible();

  const words = connection(page).locator('> span:not([aria-hidden])');
  const expectReadable = async (state: string) => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 740 });
      await expect(connection(page)).toHaveAttribute('data-state', state);
      if (state !== 'connected') expect(await isWhole(words), `${state} at ${width}`).toBe(true);
      expect(await brokenWords(words), `${state} at ${width}`).toEqual([]);
      const beginning = state === 'connected' ? /^Connected/ : /./;
      await expect(words).toContainText(beginning);
      await expect(page.getByTestId('approvals')).toBeInViewport({ ratio: 1 });
      await expect(page.getByTestId('autonomy-badge')).toBeInViewport({ ratio: 1 });
      const over = await page.evaluate(
        () => document.documentElement.scrollWidth - window.innerWidth,
      );
      expect(over, `${state} at ${width}`).toBeLessThanOrEqual(0);
    }
  };
  await expectReadable('connected');
  await context.setOffline(true);
  await board.stop();
  await expectReadable('offline');
  await context.setOffline(false);
  await expect(connection(page)).toHaveAttribute('data-state', 'reconnecting');
  await expect(connection(page).getByRole('button')).toBeInViewport({ ratio: 1 });
  await expectReadable('reconnecting');
});
