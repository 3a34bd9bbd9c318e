import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, test } from './contract/kit/contract-test.ts';
import { reader } from './contract/kit/tool-client.ts';
import type { Callboard } from './start-callboard.ts';
import { askToJoin } from './support/pair-device.ts';
import { readQr } from './support/read-qr.ts';

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
  // A tool that the person did not choose is not offered, and can be allowed later.
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
