import { expect } from '@playwright/test';
import { test } from '../fixtures.ts';
import { cardsFor, conversation, signIn, untilReady } from '../support/workbench.ts';

test.use({ permissions: ['geolocation'], geolocation: { latitude: 53.5413, longitude: 9.9841 } });
test('time', async ({ page, startServer }) => {
  let t = Date.now();
  const lap = (w: string) => {
    console.log(w, Date.now() - t);
    t = Date.now();
  };
  const s = await startServer();
  lap('server');
  page.on('requestfinished', async (r) => {
    const tm = r.timing();
    if (tm.responseEnd > 150)
      console.log('   slow', r.url(), Math.round(tm.responseStart), Math.round(tm.responseEnd));
  });
  await signIn(page, s);
  lap('signin');
  await untilReady(page);
  lap('ready');
  await page.getByRole('button', { name: /Take a screenshot/ }).click();
  lap('click');
  await expect(cardsFor(page, 'geolocation.get')).toHaveAttribute('data-status', 'SUCCESS');
  lap('geo');
  await expect(cardsFor(page, 'browser.screenshot')).toHaveAttribute('data-status', 'SUCCESS');
  lap('shot');
  await expect(conversation(page)).toContainText('rules, not an LLM.');
  lap('answer');
});
