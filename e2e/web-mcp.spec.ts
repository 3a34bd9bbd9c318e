import type { Page } from '@playwright/test';
import { test as base, expect } from './fixtures.ts';
import { serveForeignPage } from './support/foreign-page.ts';
import { connection } from './support/workbench.ts';

/** Chromium has WebMCP behind a flag; the rest is as `playwright.config.ts` has it. */
const test = base.extend({
  launchOptions: [
    async ({ launchOptions }, use) => {
      const args = [...(launchOptions.args ?? []), '--enable-features=WebMCP,WebMCPTesting'];
      await use({ ...launchOptions, args });
    },
    { scope: 'worker' },
  ],
});

const SHOP = `
document.modelContext.registerTool({
  name: 'buy', title: 'Buy', description: 'Buys an article',
  inputSchema: { type: 'object', properties: { article: { type: 'string' } } },
  annotations: { readOnlyHint: true },
  execute: async ({ article }) => ({ bought: article }),
});
document.modelContext.registerTool({
  name: 'fail', description: 'Fails', inputSchema: { type: 'object', properties: {} },
  execute: async () => { throw new Error('the reason that gets lost') },
});
window.held = '';
document.modelContext.registerTool({
  name: 'hold', description: 'Waits', inputSchema: { type: 'object', properties: {} },
  execute: (_, { signal }) => new Promise((_, reject) => {
    window.held = 'running';
    signal.addEventListener('abort', () => { window.held = 'aborted'; reject(signal.reason); });
  }),
});
window.late = () => document.modelContext.registerTool({
  name: 'late', description: 'Came later', inputSchema: { type: 'object', properties: {} },
  execute: async () => 'here',
});`;

interface ToolList {
  readonly tools: { readonly name: string; readonly description: string }[];
}

test('tools that a page registers with its browser are called like any other, and asked about', async ({
  startServer,
  page,
}) => {
  const { board, origin, open } = await serveForeignPage(startServer);
  await open(page, { script: SHOP, attributes: 'data-name="Shop" data-webmcp="on"' });
  const names = async () => {
    const { body } = await board.http('GET', '/v1/tools');
    return (body as ToolList).tools.filter(({ name }) => name.startsWith('page.'));
  };
  await expect.poll(async () => (await names()).length).toBe(3);
  expect((await names())[0]?.description).toContain(`[WebMCP tool of ${origin}]`);

  const call = (name: string, more: object = {}) =>
    board.http('POST', `/v1/tools/${name}/invoke`, { run_id: 'run_shop', args: {}, ...more });
  const bought = await call('page.buy', { args: { article: 'tea' }, wait_ms: 20_000 });
  expect(bought.body).toMatchObject({ status: 'SUCCEEDED', result: { bought: 'tea' } });
  const failed = await call('page.fail', { wait_ms: 20_000 });
  expect(failed.body).toMatchObject({
    status: 'FAILED',
    error: { message: expect.stringContaining('Browsers do not pass on why') },
  });

  // A person calls by hand; what a program decides is asked about, whatever the page says of it.
  const asked = await call('page.buy', { args: { article: 'tea' }, by: 'program' });
  const id = (asked.body as { tool_call_id: string }).tool_call_id;
  const phase = async () => {
    const { body } = await board.http('GET', `/v1/tool_calls/${id}`);
    return (body as { phase: string | null }).phase;
  };
  await expect.poll(phase).toBe('approval');

  const held = await call('page.hold');
  await expect.poll(() => page.evaluate('held')).toBe('running');
  const heldId = (held.body as { tool_call_id: string }).tool_call_id;
  await board.http('POST', `/v1/tool_calls/${heldId}/cancel`, {});
  await expect.poll(() => page.evaluate('held')).toBe('aborted');

  await page.evaluate('late()');
  await expect.poll(async () => (await names()).map(({ name }) => name)).toContain('page.late');
});

/** The agent of the browser would do this. */
const callOwn = (page: Page, name: string, args: object) => page.webmcp.callTool(name, args);

test('[WM7] the tab offers its tools to its browser once that is switched on, and its calls are asked about', async ({
  callboard,
  signedInPage: page,
}) => {
  expect(await page.webmcp.tools()).toEqual([]);
  await page.goto(`${callboard.url}/devices`);
  await page.getByRole('checkbox', { name: /WebMCP/ }).check();
  const names = async () => (await page.webmcp.tools()).map((tool) => tool.name);
  await expect.poll(names).toContain('page.text');

  // Another tab of this browser, which a person touched last.
  const other = await page.context().newPage();
  await other.goto(`${callboard.url}/approvals`);
  await expect(connection(other)).toContainText('1 client ');
  await other.getByRole('heading', { level: 1 }).click();
  const text = await callOwn(page, 'page.text', { selector: 'h1' });
  expect(JSON.stringify(text)).toContain('Devices');
  await other.close();
  const written = callOwn(page, 'clipboard.write', { text: 'x' }).catch((error: Error) => error);
  const asked = async () => {
    const { body } = await callboard.http('GET', '/v1/approvals');
    return (body as { approvals: { tool_call_id: string; tool_name: string }[] }).approvals;
  };
  await expect.poll(asked).toMatchObject([{ tool_name: 'clipboard.write' }]);
  const [{ tool_call_id } = { tool_call_id: '' }] = await asked();
  await callboard.http('POST', `/v1/tool_calls/${tool_call_id}/approval`, { decision: 'no' });
  expect(String(await written)).toMatch(/error/i);

  await page.getByRole('checkbox', { name: /WebMCP/ }).uncheck();
  await expect.poll(names).toEqual([]);
});
