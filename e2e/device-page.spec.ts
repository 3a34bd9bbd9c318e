import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { shootView } from './support/device-views.ts';
import { type ScriptedPairing, scriptPairing } from './support/scripted-pairing.ts';

test.use({ serverOf: 'file' });

const look = async (page: Page, pairing: ScriptedPairing, url: string) => {
  await page.goto(`${url}/pair/${pairing.code}`);
  await expect(page.getByRole('button', { name: /^(Join|加入)$/ })).toBeVisible();
};

test('[DP4] [DP6] a request that was sent is followed over a broken network and a reload', async ({
  page,
  callboard,
}) => {
  const pairing = await scriptPairing(page);
  await look(page, pairing, callboard.url);
  pairing.breakNetwork(true);
  await page.getByRole('button', { name: 'Join' }).click();
  await expect(page.getByText('We do not know yet whether you were let in')).toBeVisible();
  await page.reload();
  await expect(page.getByText('We do not know yet whether you were let in')).toBeVisible();
  pairing.breakNetwork(false);
  await expect(page.getByText('We do not know yet')).toBeHidden();
  await expect(page.getByText('Waiting for a person at Lab bench…')).toBeVisible();
  pairing.decide('approved');
  await expect(page.getByText('You are paired with Lab bench.')).toBeVisible();
});

test.describe('at 320 px in zh, light', () => {
  test.use({
    viewport: { width: 320, height: 640 },
    locale: 'zh',
    colorScheme: 'light',
    hasTouch: true,
  });

  test('[DP16] each view fits, and axe finds nothing', async ({ page, callboard }, testInfo) => {
    const pairing = await scriptPairing(page);
    const shoot = (name: string) => shootView(page, testInfo.outputPath(`${name}-zh-light.png`));
    await page.goto(`${callboard.url}/device`);
    await expect(page.getByRole('button')).toBeVisible();
    await shoot('none');
    await page.getByRole('button').click();
    await expect(page.getByRole('textbox')).toBeVisible();
    await shoot('code');
    await look(page, pairing, callboard.url);
    await expect(page.getByRole('radio').first()).toBeAttached();
    await shoot('offer');
    await page.getByRole('button', { name: /^(Join|加入)$/ }).click();
    await expect(page.getByText(/Waiting for a person|正在等待/)).toBeVisible();
    await shoot('waiting');
    pairing.decide('denied');
    await expect(page.getByRole('heading', { name: /not let in|未获准/ })).toBeVisible();
    await shoot('denied');
  });
});
