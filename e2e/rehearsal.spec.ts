import { expect, test } from './fixtures.ts';
import { watchCards } from './support/card-history.ts';
import {
  callIdOf,
  cards,
  cardsFor,
  connection,
  conversation,
  signIn,
  untilReady,
} from './support/workbench.ts';

test.use({
  permissions: ['geolocation'],
  geolocation: { latitude: 53.5413, longitude: 9.9841, accuracy: 12 },
});

test('without a key a person gets a real screenshot, a real position and an honest answer', async ({
  page,
  callboard,
}) => {
  const history = await watchCards(page);
  await signIn(page, callboard);
  await untilReady(page);
  await page
    .getByRole('button', { name: 'Take a screenshot of this page and tell me my position' })
    .click();

  const screenshot = cardsFor(page, 'browser.screenshot');
  const position = cardsFor(page, 'geolocation.get');
  await expect(screenshot).toHaveAttribute('data-status', 'SUCCESS');
  await expect(position).toHaveAttribute('data-status', 'SUCCESS');
  await expect(cards(page)).toHaveCount(2);
  for (const card of [screenshot, position]) {
    const id = await callIdOf(card);
    expect(history.fed(id)).toEqual(['WAIT', 'DOING', 'SUCCESS']);
    const drawn = await history.drawn(id);
    expect(drawn).toEqual(history.fed(id).filter((status) => drawn.includes(status)));
  }

  const picture = screenshot.getByRole('img', { name: /Screenshot of/ });
  await expect(picture).toBeVisible();
  await expect(picture).toHaveAttribute('src', /^blob:/);
  await expect
    .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth))
    .toBeGreaterThan(300);
  await expect(screenshot).toContainText('Redrawn from the page');
  await expect(position).toContainText('53.5413, 9.9841');
  await expect(position.getByRole('img', { name: /map of the world/i })).toBeVisible();

  const log = conversation(page);
  await expect(log).toContainText('latitude 53.5413');
  await expect(log.getByRole('list').first()).toHaveCSS('list-style-position', 'outside');
  await expect(log).toContainText('I am the rehearsal model: rules, not an LLM.');
  await expect(log.getByTestId('call-line')).toHaveCount(2);
});

test('the sign-in link works once, and the next one who opens it is asked for the token', async ({
  page,
  browser,
  callboard,
}) => {
  await signIn(page, callboard);
  await expect(connection(page)).toContainText('Connected');
  expect(new URL(page.url()).pathname).toBe('/');

  const stranger = await browser.newPage();
  await stranger.goto(callboard.signInUrl);
  await expect(stranger.getByRole('heading', { name: 'Sign in to Callboard' })).toBeVisible();
  await expect(stranger.getByRole('status')).toContainText('This link no longer works');
  await stranger.getByLabel('Token', { exact: true }).fill('not the token');
  await stranger.getByRole('button', { name: 'Sign in' }).click();
  await expect(stranger.getByRole('alert').filter({ hasText: 'token' })).toContainText(
    'This token is wrong',
  );
  await stranger.getByLabel('Token', { exact: true }).fill(callboard.token);
  await stranger.getByRole('button', { name: 'Sign in' }).click();
  await expect(connection(stranger)).toContainText('Connected');
  await stranger.close();
});
