import { createHash } from 'node:crypto';
import { expect, test } from './fixtures.ts';
import { keyOfCa, launchTrusting } from './support/trusting-browser.ts';
import { connection } from './support/workbench.ts';

const LAN = { args: ['--lan'], env: { CALLBOARD_HOST: '' } };
/** One server for the tests that only look at it. */
const FILE = import.meta.filename;

async function open(trusted: string) {
  const browser = await launchTrusting(trusted);
  return { browser, context: await browser.newContext() };
}

test('by TLS with the own CA a browser signs in with a Secure cookie, and its sockets are wss', async ({
  serverOfFile,
}) => {
  const board = await serverOfFile(FILE, LAN);
  const secure = `https://127.0.0.1:${new URL(board.url).port}`;
  const { browser, context } = await open(await keyOfCa(board));
  const page = await context.newPage();
  const sockets: string[] = [];
  page.on('websocket', (socket) => sockets.push(socket.url()));
  await page.goto(secure);
  await page.getByLabel('Token', { exact: true }).fill(board.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
  await expect(connection(page)).toContainText('1 client ');
  const cookies = (await context.cookies()).filter(({ name }) =>
    name.includes('callboard_session'),
  );
  expect(cookies).toMatchObject([{ secure: true, httpOnly: true, sameSite: 'Strict' }]);
  expect(cookies[0]?.name).toMatch(/^__Host-/);
  expect(sockets.length).toBeGreaterThan(0);
  expect(sockets.every((url) => url.startsWith(secure.replace('https', 'wss')))).toBe(true);
  expect(await page.evaluate(() => window.isSecureContext)).toBe(true);

  // A sign-in by http on the same host has a cookie of its own, and both stay.
  const plain = await context.newPage();
  await plain.goto(board.signInUrl);
  await plain.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
  await expect(connection(plain)).toContainText('2 clients ');
  await page.reload();
  await expect(connection(page)).toContainText('2 clients ');
  await browser.close();
});

test('without the CA a browser does not open it', async ({ serverOfFile }) => {
  const board = await serverOfFile(FILE, LAN);
  const { browser, context } = await open(createHash('sha256').update('another').digest('base64'));
  const page = await context.newPage();
  const secure = `https://127.0.0.1:${new URL(board.url).port}`;
  await expect(page.goto(secure)).rejects.toThrow(/ERR_CERT_AUTHORITY_INVALID/);
  await browser.close();
});

test('the page on the CA fits 320 px, in both languages and themes', async ({ serverOfFile }) => {
  const board = await serverOfFile(FILE, LAN);
  const { browser } = await open('');
  for (const [locale, colorScheme, title] of [
    ['en', 'light', 'Trust this Callboard'],
    ['zh-CN', 'dark', '信任这个 Callboard'],
  ] as const) {
    const viewport = { width: 320, height: 640 };
    const context = await browser.newContext({ locale, colorScheme, viewport });
    const page = await context.newPage();
    await page.goto(`${board.url}/trust`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(title);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    await page.screenshot({ path: test.info().outputPath(`trust-${locale}.png`), fullPage: true });
    await context.close();
  }
  await browser.close();
});

test('LN51: where it is open without TLS the workbench says so', async ({ startServer }) => {
  const board = await startServer({
    ...{ args: ['--insecure-plaintext-lan'], env: { CALLBOARD_HOST: '0.0.0.0' } },
  });
  expect(board.log()).toContain('WARNING');
  const { browser } = await open('');
  const page = await (
    await browser.newContext({ viewport: { width: 360, height: 740 } })
  ).newPage();
  await page.goto(board.signInUrl);
  const alert = page.getByRole('alert').filter({ hasText: 'No TLS' });
  await expect(alert).toContainText('camera');
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await page.screenshot({ path: test.info().outputPath('banner.png') });
  await page.getByRole('button', { name: 'Hide until the next load' }).click();
  await expect(alert).toBeHidden();
  await browser.close();
});
