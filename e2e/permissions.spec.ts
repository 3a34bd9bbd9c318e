import { finalCall, invoke } from './contract/kit/calls.ts';
import { expect, test } from './fixtures.ts';
import { wholeChromium } from './support/browsers.ts';
import { cardOf, cardsFor, conversation, say, signIn, untilReady } from './support/workbench.ts';

test.use({ serverOf: 'file' });

// The headless shell captures no tab.
test.use({ launchOptions: wholeChromium });

test.describe('in a browser where the person said no', () => {
  // Chromium by Playwright denies all that is not in a list that was given.
  test.use({ permissions: ['clipboard-read'] });

  test('the position fails with a card that says why and what to do', async ({
    page,
    callboard,
  }) => {
    await signIn(page, callboard);
    await untilReady(page);
    await say(page, 'Tell me my position');
    const card = cardsFor(page, 'geolocation.get');
    await expect(card).toHaveAttribute('data-status', 'ERROR');
    await expect(card.getByTestId('status-chip')).toHaveText('Failed');
    await expect(card).toContainText('The person or the browser refused permission.');
    await expect(card).toContainText('Allow it in the site settings of the browser, then retry.');
    await expect(card).toContainText('permission_denied');
    await expect(conversation(page)).toContainText('did not succeed');

    await page.context().grantPermissions(['geolocation']);
    await page.context().setGeolocation({ latitude: 31.2304, longitude: 121.4737 });
    await card.getByRole('button', { name: 'Retry' }).click();
    const again = cardsFor(page, 'geolocation.get').first();
    await expect(again).toHaveAttribute('data-status', 'SUCCESS');
    await expect(again).toContainText('31.2304, 121.4737');
  });
});

test('while the person is asked the card says so, and Allow captures what the tab really shows', async ({
  page,
  callboard,
}) => {
  await signIn(page, callboard);
  await untilReady(page);
  const id = await invoke(callboard, 'browser.screenshot', { mode: 'display' });
  const card = cardOf(page, id);
  await expect(card).toHaveAttribute('data-phase', 'device');
  await expect(card.getByTestId('status-chip')).toHaveText('Asking');
  await expect(card).toContainText('is being asked; the clock is paused.');
  await expect(card.getByTestId('card-time')).toContainText('clock paused');

  const question = page.getByTestId('device-prompt');
  await expect(question).toContainText('The agent wants to see this tab.');
  await question.getByRole('button', { name: 'Allow' }).click();
  await expect(question).toBeHidden();
  await expect(card).toHaveAttribute('data-status', 'SUCCESS');
  const picture = card.getByRole('img', { name: /Screenshot of “Callboard”.*as displayed/ });
  await expect(picture).toHaveAttribute('src', /^blob:/);
  await expect
    .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth))
    .toBeGreaterThan(300);
  const { result } = await finalCall(callboard, id);
  expect(result).toMatchObject({ mode: 'display', media_type: 'image/png', note: 'as displayed' });
});
