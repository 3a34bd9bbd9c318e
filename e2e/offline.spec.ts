import { expect, test } from './fixtures.ts';
import { held } from './support/scripted-run.ts';
import {
  composer,
  connection,
  conversation,
  notice,
  say,
  signIn,
  untilReady,
} from './support/workbench.ts';

test.use({ serverOf: 'file' });

test('without network and server the page says so, keeps the draft, and comes back by itself', async ({
  page,
  context,
  startServer,
}) => {
  const callboard = await startServer();
  await signIn(page, callboard);
  await untilReady(page);
  await context.setOffline(true);
  await callboard.stop();
  await expect(connection(page)).toContainText('Offline. Waiting for the network.');
  await say(page, 'What device am I on?');
  await expect(notice(page, 'unreachable')).toContainText('Is the server still running?');
  await expect(composer(page)).toHaveValue('What device am I on?');

  await startServer({
    dataDir: callboard.dataDir,
    token: callboard.token,
    env: { CALLBOARD_PORT: new URL(callboard.url).port },
  });
  await context.setOffline(false);
  await expect(connection(page)).toContainText('Connected', { timeout: 20_000 });
  await expect(composer(page)).toHaveValue('What device am I on?');
  await untilReady(page);
  await composer(page).press('Enter');
  await expect(conversation(page)).toContainText('time_zone');
  await expect(composer(page)).toHaveValue('');
});

test('a draft stays over a reload, and is there again after signing in anew', async ({
  page,
  callboard,
}) => {
  await signIn(page, callboard);
  await composer(page).fill('When is high tide');
  await page.reload();
  await expect(composer(page)).toHaveValue('When is high tide');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token', { exact: true }).fill(callboard.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(composer(page)).toHaveValue('When is high tide');
});

for (const { what, before, typed, kept } of [
  { what: 'in a new conversation', before: '', typed: 'When is', kept: 'When is' },
  {
    what: 'after a draft that the page has not shown yet',
    before: 'One thing more.',
    typed: 'When is',
    kept: 'One thing more.\nWhen is',
  },
]) {
  test(`what is typed before the page listens is kept, ${what}`, async ({ page, callboard }) => {
    await signIn(page, callboard);
    await untilReady(page);
    await composer(page).fill(before);
    const scripts = held();
    await page.route('**/_next/static/**/*.js', async (route) => {
      await scripts.until;
      await route.continue();
    });
    await page.reload({ waitUntil: 'commit' });
    // The server drew the field; nothing of the page's code is there.
    await composer(page).pressSequentially(typed);
    await expect(composer(page)).toHaveValue(typed);
    await expect(connection(page)).not.toHaveAttribute('data-state', 'connected');
    scripts.release();
    await untilReady(page);
    await expect(composer(page)).toHaveValue(kept);
    await composer(page).pressSequentially(' high tide?');
    await page.reload();
    await untilReady(page);
    await expect(composer(page)).toHaveValue(`${kept} high tide?`);
  });
}
