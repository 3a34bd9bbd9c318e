import { finalCall, invoke } from './contract/kit/calls.ts';
import { expect, test } from './fixtures.ts';
import { wholeChromium } from './support/browsers.ts';
import { cardOf, signIn, untilReady } from './support/workbench.ts';

test.use({ serverOf: 'file' });

// The headless shell captures no tab.
test.use({ launchOptions: wholeChromium });

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
