import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import type { ClientToolDefinition } from '#lib/client/client-tool';
import { sharedTempDir } from '#lib/testing/temp-dir';
import { createSystemClock } from '../../server/base/clock.ts';
import { readConfig } from '../../server/main/config.ts';
import { createStoreOnThisThread } from '../../server/store/testing/store-on-this-thread.ts';
import { throwingLogger } from '../../server/testing/error-log.ts';
import type { AnyServerTool } from '../../server/tools/define-tool.ts';
import { openTools } from '../../server/tools/open-tools.ts';
import { runBuiltin } from '../../server/tools/testing/run-builtin.ts';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/writing-a-tool.md'), 'utf8');
const dir = sharedTempDir();
const parts = {
  threadOf: () => 'unused',
  env: {},
  store: createStoreOnThisThread({ file: join(dir, 'store.db') }),
  clock: createSystemClock(),
  logger: throwingLogger,
};
afterAll(() => parts.store.close());

/** The example whose first line names that file. */
function exampleOf(file: string): string {
  const blocks = [...page.matchAll(/^```(?:js|ts)\n\/\/ ([^\n]*)\n(.*?)^```$/gms)];
  const [, , code] = blocks.find(([, name]) => name === file) ?? [];
  if (code === undefined) throw new Error(`The page has no ${file}`);
  return code;
}

/** The example as a module: what it imports is that of this repository. */
async function importExample(file: string): Promise<Record<string, unknown>> {
  const place = pathToFileURL(join(root, file));
  const code = exampleOf(file)
    .replaceAll(/from '(\..*)'/g, (_all, path) => `from '${new URL(path, place)}'`)
    .replaceAll("from 'zod'", `from '${import.meta.resolve('zod')}'`);
  const path = join(dir, `${file.replaceAll('/', '-')}`);
  writeFileSync(path, code);
  return import(/* @vite-ignore */ pathToFileURL(path).href);
}

test('the module of the page is loaded by the configuration of the page, and does what it says', async () => {
  const [, config = ''] = /^```json\n(.*?)^```$/ms.exec(page) ?? [];
  const { tools } = JSON.parse(config);
  const [{ module }] = tools.modules;
  mkdirSync(dirname(join(dir, module)), { recursive: true });
  writeFileSync(join(dir, module), exampleOf('tools/lamp.mjs'));
  writeFileSync(join(dir, 'callboard.config.json'), config);
  const opened = await openTools(readConfig({}, dir), parts);
  const lamp = opened.find(({ name }) => name === 'lamp.switch');
  if (!lamp) throw new Error('There is no lamp.switch');
  expect(lamp.description).toContain('The lamps are: desk.');
  expect(await runBuiltin(lamp, { lamp: 'desk', on: true })).toEqual({ lamp: 'desk', on: true });
  await expect(runBuiltin(lamp, { lamp: 'hall', on: true })).rejects.toMatchObject({
    ...{ executed: 'no', message: 'There is no lamp "hall"' },
  });
});

test('E14: the tool of the server on the page does what it says', async () => {
  const { createDiceRoll } = await importExample('server/tools/builtin/dice-roll.ts');
  const create = createDiceRoll as (deps: { random(): number }) => AnyServerTool;
  expect(await runBuiltin(create({ random: () => 0.99 }), {})).toEqual({ eyes: 6 });
});

test('the tool of a tab on the page does what it says', async () => {
  const { createSelectionTool } = await importExample('lib/browser-tools/selection-tool.ts');
  const create = createSelectionTool as (page: { selection(): string }) => ClientToolDefinition;
  const context = {
    ...{ callId: 'tc_1', runId: 'run_1', signal: new AbortController().signal, status() {} },
    askDevice: <T>(ask: () => Promise<T>) => ask(),
  };
  const tool = create({ selection: () => 'some words' });
  expect(await tool.run({ max_chars: 4 }, context)).toEqual({ output: { text: 'some' } });
  expect(() => create({ selection: () => '' }).run({}, context)).toThrow('Nothing is selected.');
});

test('the page has each part of a definition and of the context of a tool', () => {
  const source = readFileSync(join(root, 'server/tools/define-tool.ts'), 'utf8');
  const partsOf = (name: string) => {
    const body = source.split(`interface ${name}`)[1]?.split('\n}')[0] ?? '';
    return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, part = '']) => part);
  };
  const parts = [...partsOf('ToolDefinition'), ...partsOf('ToolContext')];
  expect(parts.length).toBeGreaterThan(14);
  expect(parts.filter((part) => !new RegExp(`\`${part}[\`(]`).test(page))).toEqual([]);
});
