import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, type Fixtures, test } from './fixtures.ts';
import { configFile } from './support/config-file.ts';
import { startOutside } from './support/outside.ts';

// Its tests read, and call tools of their own.
test.use({ serverOf: 'file' });

const ROOT = resolve(import.meta.dirname, '..');
const EXAMPLE = 'examples/ws-tool.mjs';
/** In the commands of the pages; a test's server has a port of its own. */
const ADDRESS = 'http://127.0.0.1:3000';

const read = (name: string) => readFile(join(ROOT, name), 'utf8');

/** The code of each fenced block, in order. */
const blocksOf = (markdown: string) =>
  [...markdown.matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, code = '']) => code);

/** `#`, `##` … of each heading outside code, in order. */
const headingsOf = (markdown: string) =>
  [...markdown.replace(/^```.*?^```$/gms, '').matchAll(/^(#+) /gm)].map(([, level]) => level);

/** The one block of a page that holds `mark`. */
async function blockWith(mark: string, page: string): Promise<string> {
  const found = blocksOf(await read(page)).filter((code) => code.includes(mark));
  expect(found, `blocks with ${mark}`).toHaveLength(1);
  return found[0] ?? '';
}

test('the page of a first tool shows the example as it is', async () => {
  const example = (await read(EXAMPLE)).replace(/^(?:\/\/.*\n)+\n?/, '');
  expect(await blockWith("from 'ws'", 'docs/first-tool.md')).toBe(example);
});

test('each Chinese page has the headings and the code of the English one', async () => {
  const pages = (await readdir(join(ROOT, 'docs/zh'))).map((name) => [
    `docs/${name}`,
    `docs/zh/${name}`,
  ]);
  expect(pages.length).toBeGreaterThan(10);
  for (const [en = '', zh = ''] of [['README.md', 'README.zh-CN.md'], ...pages]) {
    const [english, chinese] = [await read(en), await read(zh)];
    // The abilities of models are described in English alone.
    const upTo = zh === 'docs/zh/models.md' ? english.split('\n## ', 1).join() : english;
    expect(headingsOf(chinese), zh).toEqual(headingsOf(upTo));
    expect(blocksOf(chinese), zh).toEqual(blocksOf(upTo));
  }
});

test('a start prints what the README says', async ({ callboard }) => {
  const labels = (banner: string) => banner.match(/^(?:Callboard is ready:| {2}[A-Z].*?: +)/gm);
  await expect.poll(() => callboard.log()).toContain('Ctrl+C');
  for (const page of ['README.md', 'docs/install.md']) {
    const shown = labels(await blockWith('Sign in (once)', page));
    expect(shown).toHaveLength(7);
    expect(shown).toEqual(labels(callboard.log()));
  }
});

test('the example is a tool that can be called', async ({ callboard }) => {
  const url = `${callboard.url.replace('http', 'ws')}/ws/client`;
  const program = spawn(process.execPath, [join(ROOT, EXAMPLE), url], {
    env: { ...process.env, CALLBOARD_TOKEN: callboard.token },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  try {
    const body = { run_id: 'run_readme', args: { sides: 2 }, wait_ms: 5_000 };
    const roll = () => callboard.http('POST', '/v1/tools/dice.roll/invoke', body);
    await expect.poll(async () => (await roll()).status).toBe(200);
    expect((await roll()).body).toMatchObject({
      status: 'SUCCEEDED',
      card: { status: 'SUCCESS', tip: 'Rolling…', client_name: 'Dice' },
    });
  } finally {
    program.kill();
  }
});

test('the example by the client library is a tool that can be called', async ({ callboard }) => {
  const args = [
    join(ROOT, 'examples/node-tool.mjs'),
    callboard.url,
    test.info().outputPath('door'),
  ];
  const program = spawn(process.execPath, args, {
    env: { ...process.env, CALLBOARD_TOKEN: callboard.token },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  try {
    const body = { run_id: 'run_readme', args: { seconds: 0.1 }, wait_ms: 5_000 };
    const open = () => callboard.http('POST', '/v1/tools/door.open/invoke', body);
    await expect.poll(async () => (await open()).status).toBe(200);
    expect((await open()).body).toMatchObject({
      status: 'SUCCEEDED',
      result: { opened_for: 0.1 },
      display: 'Open for 0.1 s',
    });
  } finally {
    program.kill();
  }
});

test('the example page is a tool that can be called', async ({ page, startServer }) => {
  const example = await read('examples/page-tool.html');
  let board = '';
  const outside = await startOutside(() => example.replace(ADDRESS, () => board));
  try {
    const file = await configFile(test.info(), { allowed_origins: [outside.url] });
    // The token has what a subprotocol cannot have as it is.
    const token = 'a-token/of=the-operator';
    const callboard = await startServer({ token, env: { CALLBOARD_CONFIG: file } });
    board = callboard.url;
    await page.goto(outside.url);
    await page.getByLabel('Operator token').fill(token);
    await page.getByRole('button').click();
    await expect(page.locator('#status')).toHaveText('registered');

    const body = { run_id: 'run_readme', args: { text: 'Milk' }, wait_ms: 5_000 };
    const written = await callboard.http('POST', '/v1/tools/board.write/invoke', body);
    expect(written.body).toMatchObject({ status: 'SUCCEEDED', result: { length: 4 } });
    await expect(page.locator('#note')).toHaveText('Milk');
  } finally {
    await outside.close();
  }
});

/** The answers that a page's commands print, each a line, beside a server of their own. */
async function answersOf(page: string, startServer: Fixtures['startServer']): Promise<unknown[]> {
  const cwd = test.info().outputPath('project');
  // No token given: the script finds the one that the server made, where the page says it is.
  const dataDir = join(cwd, '.callboard');
  await mkdir(dataDir, { recursive: true });
  const callboard = await startServer({ dataDir, env: { CALLBOARD_TOKEN: '' } });
  const script = (await blockWith('curl', page)).replaceAll(ADDRESS, callboard.url);
  expect(script).not.toContain(':3000');
  const shell = spawn('bash', ['-euc', script], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  return (await text(shell.stdout))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test("the README's command answers", async ({ startServer }) => {
  const answers = await answersOf('README.md', startServer);
  expect(answers).toMatchObject([{ status: 'SUCCEEDED', result: { value: 42 } }]);
});

test('the commands answer as the page on HTTP says', async ({ startServer }) => {
  const answers = await answersOf('docs/http.md', startServer);
  expect(answers).toMatchObject([
    { tools: expect.arrayContaining([expect.objectContaining({ name: 'calculation.eval' })]) },
    { status: 'SUCCEEDED', result: { value: 42 } },
    { status: 'pending', tool_call_id: expect.stringMatching(/^tc_/) },
    { status: 'SUCCEEDED', tool_name: 'database.query' },
    { error: { code: 'already_final' } },
  ]);
  // The same key, the same call.
  expect(answers[3]).toHaveProperty('tool_call_id', Object(answers[2]).tool_call_id);
});

test('the configuration of its page is one that the server takes', async ({ startServer }) => {
  const file = test.info().outputPath('callboard.config.json');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, await blockWith('allowed_hosts', 'docs/configuration.md'));
  await writeFile(join(dirname(file), 'shop.db'), '');
  const callboard = await startServer({ env: { CALLBOARD_CONFIG: file } });
  const wait = { run_id: 'run_readme', wait_ms: 5_000 };
  const sum = { ...wait, args: { expression: '1 + 1' } };
  expect((await callboard.http('POST', '/v1/tools/calculation.eval/invoke', sum)).status).toBe(200);
});

test('the page on the configuration names every setting', async ({ startServer }) => {
  const refusal = await startServer({ env: { CALLBOARD_NONSENSE: '1' } }).catch(String);
  const settings = String(refusal).match(/CALLBOARD_(?!NONSENSE)[A-Z_]+/g) ?? [];
  expect(settings.length).toBeGreaterThan(5);
  const page = await read('docs/configuration.md');
  for (const name of settings) expect(page).toContain(`| \`${name}\``);
});
