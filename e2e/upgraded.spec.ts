import { expect, test } from './contract/kit/contract-test.ts';
import { composer, connection, signIn, untilReady } from './support/workbench.ts';

test('a page whose code is gone is loaded anew once, with the draft, and never in a loop', async ({
  page,
  startServer,
}) => {
  const board = await startServer();
  await signIn(page, board);
  await untilReady(page);
  await composer(page).fill('half a thought');
  let loads = 0;
  page.on('domcontentloaded', () => {
    loads += 1;
  });
  let asked = 0;
  // This is as after an upgrade: files of before are asked for, and the server has them no more.
  await page.route('**/_next/static/**', async (route) => {
    if (route.request().method() !== 'HEAD') return route.continue();
    asked += 1;
    await route.fulfill({ status: 404 });
  });
  const reconnect = async () => {
    await page.context().setOffline(true);
    await expect(connection(page)).not.toHaveAttribute('data-state', 'connected');
    await page.context().setOffline(false);
    await expect(connection(page)).toHaveAttribute('data-state', 'connected');
  };
  await reconnect();
  await expect.poll(() => loads).toBe(1);
  await untilReady(page);
  await expect(composer(page)).toHaveValue('half a thought');
  expect(asked).toBeGreaterThan(0);
  await reconnect();
  await untilReady(page);
  expect(loads).toBe(1);
});
