import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, test } from './contract/kit/contract-test.ts';
import { reader } from './contract/kit/tool-client.ts';
import type { Callboard } from './start-callboard.ts';
import { askToJoin, pairDevice } from './support/pair-device.ts';
import { readQr } from './support/read-qr.ts';
import { signInByToken } from './support/workbench.ts';

const openPage = (page: Page, { url }: Callboard) => page.goto(`${url}/devices`);
const card = (page: Page, name: string) => page.getByRole('article', { name });

test('[DS7] [DS8] [DS13] a phone is let in by the link of the picture, with the tools that the person chose', async ({
  callboard: board,
  signedInPage: page,
  connect,
}) => {
  await openPage(page, board);
  await page.getByRole('button', { name: 'Pair a device' }).click();
  const shown = (await page.getByTestId('code').textContent()) ?? '';
  const link = await readQr(page);
  expect(link).toBe(`${board.url}/pair/${shown.replace('-', '')}`);

  const tools = [reader('camera.photo'), reader('clipboard.read')];
  const code = link.split('/').at(-1) ?? '';
  const { token } = await askToJoin(board, { code, name: 'Pixel 8', tools });
  const request = page.getByTestId('pairing-request');
  await expect(request).toContainText('Pixel 8');
  await expect(request).toContainText('127.0.0.1');
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  await request.getByRole('checkbox', { name: /clipboard\.read/ }).uncheck();
  await request.getByRole('textbox').fill('Phone of Ada');
  await request.getByRole('button', { name: 'Let it in' }).click();
  await expect(page.getByTestId('pairing-outcome')).toContainText('paired');
  await page.getByRole('button', { name: 'Close' }).first().click();

  const phone = await connect.client(board, { token, hello: {}, tools });
  await expect(card(page, 'Phone of Ada').getByTestId('presence')).toHaveText(/online/);
  // What the person did not choose is not offered, and can be allowed later.
  const { body } = await board.http('GET', '/v1/tools');
  const listed = (body as { tools: { name: string; clients: { name: string }[] }[] }).tools;
  const ofPhone = listed.filter(({ clients }) =>
    clients.some(({ name }) => name === 'Phone of Ada'),
  );
  expect(ofPhone.map(({ name }) => name)).toEqual(['camera.photo']);
  await card(page, 'Phone of Ada')
    .getByText(/^Tools:/)
    .click();
  await expect(card(page, 'Phone of Ada')).toContainText('clipboard.readnot allowed');
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  await card(page, 'Phone of Ada').getByRole('button', { name: 'Allow clipboard.read' }).click();
  await expect(
    card(page, 'Phone of Ada').getByRole('button', { name: 'Take back clipboard.read' }),
  ).toBeVisible();
  const record = board.http('POST', '/v1/tools/clipboard.read/invoke', {
    ...{ run_id: 'run_a', args: {}, wait_ms: 20_000, client: phone.welcome.client_id },
  });
  phone.succeed((await phone.request()).id, 'the text');
  expect((await record).body).toMatchObject({ status: 'SUCCEEDED', result: 'the text' });
  await phone.close();
  await expect(card(page, 'Phone of Ada').getByTestId('presence')).toHaveText('offline');
});

test('[DS13] a tool that changed is not offered until a person has seen the difference', async ({
  callboard: board,
  signedInPage: page,
  connect,
}) => {
  const { token } = await pairDevice(board, { name: 'Tablet', tools: [reader('camera.photo')] });
  const tablet = await connect.client(board, { token, hello: {} });
  await tablet.register(reader('camera.photo', { description: 'Sends a photo to the shop' }));
  await openPage(page, board);
  const waiting = card(page, 'Tablet').getByTestId('waiting-tool');
  await expect(waiting.locator('del')).toHaveText('The tool camera.photo');
  await expect(waiting.locator('ins')).toHaveText('Sends a photo to the shop');
  await waiting.getByRole('button', { name: 'Refuse camera.photo' }).click();
  await expect(waiting).toHaveCount(0);
  await expect(page.getByTestId('devices-waiting')).toHaveCount(0);
  await tablet.close();
});

test('[DS14] [DS15] a device is renamed, disconnected and revoked from its card', async ({
  callboard: board,
  signedInPage: page,
  connect,
}) => {
  const tools = [reader('camera.photo')];
  const { token } = await pairDevice(board, { name: 'Pixel 8', tools });
  let phone = await connect.client(board, { token, hello: {}, tools });
  await openPage(page, board);
  await card(page, 'Pixel 8')
    .getByRole('button', { name: /^Rename/ })
    .click();
  await page.getByRole('textbox', { name: 'New name' }).fill('Kitchen');
  await page.keyboard.press('Enter');
  await expect(card(page, 'Kitchen').getByTestId('presence')).toHaveText(/online/);
  // Wherever a call or a tool names it, and at once.
  const { body } = await board.http('GET', '/api/tools?name=camera.photo');
  expect(JSON.stringify(body)).toContain('"name":"Kitchen"');

  await card(page, 'Kitchen')
    .getByRole('button', { name: /^Disconnect/ })
    .click();
  await card(page, 'Kitchen').getByRole('button', { name: 'Disconnect', exact: true }).click();
  expect((await phone.closed).code).toBe(4403);
  await expect(card(page, 'Kitchen').getByTestId('presence')).toHaveText('offline');

  phone = await connect.client(board, { token, hello: {}, tools });
  await expect(card(page, 'Kitchen').getByTestId('presence')).toHaveText(/online/);
  await card(page, 'Kitchen')
    .getByRole('button', { name: /^Revoke/ })
    .click();
  await card(page, 'Kitchen').getByRole('button', { name: 'Revoke', exact: true }).click();
  expect((await phone.closed).code).toBe(4401);
  await expect(card(page, 'Kitchen').getByTestId('presence')).toHaveText('revoked');
  await expect(connect.client(board, { token })).rejects.toThrow('401');
});

test('[DS12] two people see one request, and the first decision counts for both', async ({
  callboard: board,
  signedInPage: page,
  browser,
}) => {
  const other = await (await browser.newContext()).newPage();
  await signInByToken(other, board);
  const { body } = await board.http('POST', '/v1/pairings', {});
  const { code } = body as { code: string };
  await askToJoin(board, { code, name: 'Pixel 8', tools: [] });
  for (const one of [page, other]) {
    await openPage(one, board);
    await expect(one.getByTestId('pairing-request')).toContainText('Pixel 8');
  }
  await other.getByRole('button', { name: 'Refuse' }).click();
  await expect(page.getByTestId('pairing-request')).toHaveCount(0);
  await other.context().close();
});
