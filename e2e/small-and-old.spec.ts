import type { Page } from '@playwright/test';
import { finalCall, invoke } from './contract/kit/calls.ts';
import { expect, test } from './fixtures.ts';
import { keepPairing, untilConnected } from './support/device-views.ts';
import { phoneOptions } from './support/phone-options.ts';
import { scriptPairing } from './support/scripted-pairing.ts';

test.use({ serverOf: 'file' });

const OLDEST = /Firefox 124, Safari 17\.5/;

test.describe('with fingers', () => {
  test.use(phoneOptions('iPhone 15'));

  const smallFields = (page: Page) =>
    page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('input, textarea, select')]
        .filter((field) => Number.parseFloat(getComputedStyle(field).fontSize) < 16)
        .map(({ outerHTML }) => outerHTML.slice(0, 120)),
    );

  test('[DP46] no field has letters into which Safari would zoom', async ({
    signedInPage: page,
    callboard,
  }) => {
    for (const path of ['/', '/tools?tool=database.query', '/settings/policy', '/pair']) {
      await page.goto(callboard.url + path);
      await expect(page.locator('input, textarea, select').first()).toBeAttached();
      expect(await smallFields(page), path).toEqual([]);
    }
  });

  test('[DP46] nothing lies under a notch, on any side', async ({
    signedInPage: page,
    callboard,
  }) => {
    const insets = { top: 50, left: 48, right: 47, bottom: 34 };
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('Emulation.setSafeAreaInsetsOverride', { insets });
    for (const path of ['/', '/pair', '/device']) {
      await page.goto(callboard.url + path);
      const shown = page.locator('main, header').first();
      await expect(shown).toBeVisible();
      const free = await page.evaluate(() => {
        const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const range = document.createRange();
        const free = { top: 1_000, left: 1_000, right: 1_000 };
        for (let text = texts.nextNode(); text; text = texts.nextNode()) {
          const parent = text.parentElement;
          if (!text.textContent?.trim() || parent?.closest('script, .sr-only')) continue;
          if (!parent?.checkVisibility({ visibilityProperty: true })) continue;
          range.selectNodeContents(text);
          const box = range.getBoundingClientRect();
          if (box.width === 0) continue;
          free.top = Math.min(free.top, box.top);
          free.left = Math.min(free.left, box.left);
          free.right = Math.min(free.right, innerWidth - box.right);
        }
        return free;
      });
      expect(free.top, `${path} above`).toBeGreaterThanOrEqual(insets.top);
      expect(free.left, `${path} left`).toBeGreaterThanOrEqual(insets.left);
      expect(free.right, `${path} right`).toBeGreaterThanOrEqual(insets.right);
    }
  });
});

/** The page is that of a browser from before the newest thing that pages need. */
const OLD = {
  'without light-dark()': () => {
    CSS.supports = () => false;
  },
  'without AbortSignal.any': () => void Reflect.deleteProperty(AbortSignal, 'any'),
};

for (const [name, makeOld] of Object.entries(OLD)) {
  test(`[DP46] a browser ${name} is told which are the oldest, in place of the page`, async ({
    page,
    callboard,
  }) => {
    await page.addInitScript(makeOld);
    for (const path of ['/sign-in', '/pair', '/device']) {
      await page.goto(callboard.url + path, { waitUntil: 'commit' });
      await expect(page.locator('body'), path).toHaveText(OLDEST);
      await expect(page.getByRole('button'), path).toHaveCount(0);
    }
  });
}

test('[DP46] the step of the code names the oldest browsers', async ({ page, callboard }) => {
  await page.goto(`${callboard.url}/pair`);
  await expect(page.getByText(OLDEST)).toBeVisible();
});

test('[DP45] on a phone a tap of a moment ago opens no window', async ({ page, callboard }) => {
  const pairing = await scriptPairing(page);
  pairing.decide('approved');
  await keepPairing(page, callboard);
  await page.goto(`${callboard.url}/device`);
  await untilConnected(page);
  // This tap, too, is one of a moment ago.
  await page.getByRole('group', { name: 'Rule for Open a page' }).getByText('While open').click();
  const id = await invoke(callboard, 'page.open', { url: `${callboard.url}/pair` });
  const opened = page.context().waitForEvent('page');
  await page
    .getByRole('region', { name: 'Question of a tool' })
    .getByRole('button', { name: 'Open', exact: true })
    .click();
  await opened;
  expect(await finalCall(callboard, id)).toMatchObject({ status: 'SUCCEEDED' });
});
