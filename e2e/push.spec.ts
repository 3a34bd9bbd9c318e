import type { PushState } from '../lib/protocol/push.ts';
import { pairDevice } from './contract/kit/devices.ts';
import { expect, test } from './fixtures.ts';
import { wholeChromium } from './support/browsers.ts';
import { untilConnected } from './support/device-views.ts';
import { deliverPush, shownNotes, stubPushService, tapNote } from './support/push-worker.ts';

test.use({ serverOf: 'file' });

// The headless shell has no notifications and no push.
test.use({ launchOptions: wholeChromium });

const note = (more: object = {}) =>
  JSON.stringify({
    ...{ v: 1, title: 'A call waits for your decision', body: 'Open Callboard to decide.' },
    ...{ path: '/approvals?call=tc_1', tag: 'tag_1', quiet: false, at: 1_700_000_000_000 },
    ...more,
  });

test('[WP20] [WP22] a person turns notes on, a push is shown and leads to its page, signing out ends it', async ({
  signedInPage: page,
  context,
  callboard,
}) => {
  await context.grantPermissions(['notifications']);
  await stubPushService(page);
  await page.goto(`${callboard.url}/settings/push`);
  const here = page.getByRole('region', { name: 'This browser' });
  await here.getByRole('button', { name: 'Turn on' }).click();
  await expect(here).toContainText('This browser gets notifications.');
  await expect(page.getByRole('listitem')).toContainText('this one');
  await deliverPush(page, '/push/', note());
  await expect
    .poll(() => shownNotes(page, '/push/'))
    .toEqual([
      {
        ...{ title: 'A call waits for your decision', body: 'Open Callboard to decide.' },
        ...{ tag: 'tag_1', silent: false },
      },
    ]);
  await deliverPush(page, '/push/', note({ title: 'The call waits no more', quiet: true }));
  await expect
    .poll(() => shownNotes(page, '/push/'))
    .toMatchObject([{ title: 'The call waits no more', silent: true }]);
  expect(await tapNote(context, '/push/sw.js')).toEqual({
    ...{ asked: ['open /approvals?call=tc_1'], left: 0 },
  });
  await deliverPush(page, '/push/', note({ path: 'https://evil.example/', tag: 'other' }));
  expect(await tapNote(context, '/push/sw.js')).toMatchObject({ asked: ['open /approvals'] });
  await deliverPush(page, '/push/', note({ path: '/settings/push' }));
  expect(await tapNote(context, '/push/sw.js')).toMatchObject({ asked: ['focus /settings/push'] });
  const own = async () => {
    const { body } = await callboard.http('GET', '/v1/push');
    return (body as PushState).subscriptions.length;
  };
  expect(await own()).toBe(1);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(/\/sign-in/);
  expect(await own()).toBe(0);
});

test('[WP23] a paired phone turns notes on by its token, and a push is shown and leads to its page', async ({
  page,
  context,
  callboard,
}) => {
  await context.grantPermissions(['notifications']);
  const { token, device } = await pairDevice(callboard, [], 'Pocket');
  const workbench = { name: 'Lab bench', fingerprint: [1, 2, 3, 4] };
  const kept = { token, name: 'Pocket', workbench, device_id: device.device_id };
  await stubPushService(page);
  await page.goto(`${callboard.url}/device`);
  await page.evaluate(
    (text) => localStorage.setItem('callboard:device', text),
    JSON.stringify(kept),
  );
  await page.reload();
  await untilConnected(page);
  const toggle = page.getByRole('checkbox', { name: 'Notifications' });
  await toggle.click();
  await expect(toggle).toBeChecked();
  const own = async () => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${callboard.url}/internal/push`, { headers });
    return ((await answer.json()) as PushState).subscriptions;
  };
  expect(await own()).toMatchObject([{ host: 'fcm.googleapis.com', details: false }]);
  await deliverPush(page, '/device', note({ path: '/device' }));
  await expect.poll(() => shownNotes(page, '/device')).toHaveLength(1);
  expect(await tapNote(context, '/device/sw.js')).toEqual({ asked: ['focus /device'], left: 0 });
  await page.reload();
  await untilConnected(page);
  await expect(toggle).toBeChecked();
  await toggle.click();
  await expect(toggle).not.toBeChecked();
  expect(await own()).toEqual([]);
});
