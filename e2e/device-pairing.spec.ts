import type { Page } from '@playwright/test';
import { openedPairingSchema } from '#lib/protocol/device';
import { finalCall, invoke } from './contract/kit/calls.ts';
import { expect, test } from './fixtures.ts';
import type { Callboard } from './start-callboard.ts';
import { untilConnected } from './support/device-views.ts';

/** Opens a code as the workbench does, and follows its link on the phone. */
async function followLink(page: Page, board: Callboard) {
  const { body } = await board.http('POST', '/v1/pairings', {});
  const pairing = openedPairingSchema.parse(body);
  await page.goto(`${board.url}/pair/${pairing.code}`);
  await expect(page.getByRole('heading', { name: pairing.workbench.name })).toBeVisible();
  return pairing;
}

const decide = (board: Callboard, id: string, decision: 'approve' | 'deny') =>
  board.http('POST', `/v1/pairings/${id}/decision`, { decision });

const waiting = (page: Page) => page.getByText(/^Waiting for a person at/);
const sheet = (page: Page) => page.getByRole('region', { name: 'Question of a tool' });

test('[DP33] a device that a person disconnected connects again when asked, and a revoked one is to be paired again', async ({
  page,
  callboard,
}) => {
  const { pairing_id } = await followLink(page, callboard);
  await page.getByRole('button', { name: 'Join' }).click();
  await expect(waiting(page)).toBeVisible();
  await decide(callboard, pairing_id, 'approve');
  await page.getByRole('button', { name: 'Open this device' }).click();
  await untilConnected(page);
  const { body } = await callboard.http('GET', '/v1/devices');
  const [device] = (body as { devices: { device_id: string; client_id: string }[] }).devices;
  await callboard.http('POST', `/v1/clients/${device?.client_id}/disconnect`);
  await untilConnected(page, 'Disconnected by a person');
  await page.getByRole('button', { name: 'Connect again' }).click();
  await untilConnected(page);
  const id = await invoke(callboard, 'page.text', { selector: 'h1' });
  await expect(sheet(page)).toBeVisible();
  await callboard.http('DELETE', `/v1/devices/${device?.device_id}`);
  await untilConnected(page, 'Access revoked');
  await expect(sheet(page)).toBeHidden();
  await expect(page.getByRole('button', { name: 'Connect again' })).toBeHidden();
  expect((await finalCall(callboard, id)).status).not.toBe('SUCCEEDED');
  await expect(page.getByText('revoked the access of this device')).toBeVisible();
  await expect(page.getByRole('radio')).toHaveCount(0);
  await expect(page.getByRole('button')).toHaveText(['Pair again']);
  await page.getByRole('button', { name: 'Pair again' }).click();
  await expect(page.getByLabel('Code')).toBeVisible();
  await page.goto(`${callboard.url}/device`);
  await expect(page.getByRole('heading', { name: 'This device is not paired' })).toBeVisible();
});

test.describe('with a keyboard alone, at 320 px', () => {
  test.use({ viewport: { width: 320, height: 568 } });

  test('[DP44] a phone is paired, its controls stay in sight, and a question is answered', async ({
    page,
    callboard,
  }) => {
    const { body } = await callboard.http('POST', '/v1/pairings', {});
    const { code, pairing_id, workbench } = openedPairingSchema.parse(body);
    await page.goto(`${callboard.url}/pair`);
    // The script of the page draws the form, and may do so after the page is loaded.
    const field = page.getByRole('textbox');
    await expect(field).toBeVisible();
    await page.keyboard.press('Tab');
    await expect(field).toBeFocused();
    await page.keyboard.type(code);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { name: workbench.name })).toBeFocused();
    const join = page.getByRole('button', { name: 'Join' });
    await expect(page.getByRole('radio').first()).toBeAttached();
    const covered: string[] = [];
    for (let pressed = 0; pressed < 60; pressed += 1) {
      await page.keyboard.press('Tab');
      if (await join.evaluate((button) => button === document.activeElement)) break;
      covered.push(...(await coveredControl(page)));
    }
    expect(covered).toEqual([]);
    await expect(join).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { name: /^Waiting for a person/ })).toBeFocused();
    await decide(callboard, pairing_id, 'approve');
    await expect(page.getByRole('heading', { name: /^You are paired/ })).toBeFocused();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await untilConnected(page);
    const id = await invoke(callboard, 'device.info');
    const allow = sheet(page).getByRole('button', { name: 'Allow once' });
    await expect(allow).toHaveAttribute('aria-disabled', 'false');
    await page.keyboard.press('Tab');
    await expect(allow).toBeFocused();
    await page.keyboard.press('Enter');
    expect((await finalCall(callboard, id)).status).toBe('SUCCEEDED');
  });
});

/** The label of the radio that has the focus, where something lies over it. */
const coveredControl = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const label = document.activeElement?.closest('label');
    if (!label) return [];
    const { left, top, width, height } = label.getBoundingClientRect();
    const there = document.elementFromPoint(left + width / 2, top + height / 2);
    return label.contains(there) ? [] : [label.textContent];
  });
