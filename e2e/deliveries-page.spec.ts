import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from './contract/kit/contract-test.ts';
import { configFile } from './support/config-file.ts';
import { signIn } from './support/workbench.ts';

test('[OB9] [OB16] a person sees a target that is off, turns it on, and sends again what it had not taken', async ({
  page,
  startServer,
}, testInfo) => {
  let status = 410;
  const server = createServer((_request, response) => void response.writeHead(status).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/services/T0/B0/abcdefgh`;
  const config = { notify: { team: { kind: 'slack', url } } };
  const env = { CALLBOARD_CONFIG: await configFile(testInfo, config) };
  const board = await startServer({ env });
  await signIn(page, board);
  await page.goto(`${board.url}/settings/deliveries`);
  const target = page.getByTestId('notify-target');
  const delivery = page.getByTestId('delivery');
  await page.getByRole('button', { name: 'Send a test slack:team' }).press('Enter');
  await expect(delivery).toContainText('Test of notifications');
  await expect(async () => {
    await page.getByRole('button', { name: 'Look again' }).press('Enter');
    await expect(delivery).toContainText('failed, given up', { timeout: 1_000 });
  }).toPass();
  await expect(target).toContainText('off since');
  await expect(delivery).toContainText('HTTP 410: it wants no more');
  status = 200;
  await page.getByRole('button', { name: 'Turn on again slack:team' }).press('Enter');
  await expect(target).not.toContainText('off since');
  await page.getByRole('button', { name: /^Send again/ }).press('Enter');
  await expect(async () => {
    await page.getByRole('button', { name: 'Look again' }).press('Enter');
    await expect(delivery).toContainText('delivered', { timeout: 1_000 });
  }).toPass();
  server.close();
});
