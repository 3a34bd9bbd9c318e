import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { sharedTempDir } from '#lib/testing/temp-dir';
import { createSystemClock } from '../../server/base/clock.ts';
import { readConfig } from '../../server/main/config.ts';
import { createRunTools } from '../../server/runs/create-runs.ts';
import { Delegation } from '../../server/runs/delegate/delegation.ts';
import { createStoreOnThisThread } from '../../server/store/testing/store-on-this-thread.ts';
import { throwingLogger as logger } from '../../server/testing/error-log.ts';
import { openTools } from '../../server/tools/open-tools.ts';

const page = readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/tools.md'), 'utf8');
const dir = sharedTempDir();
const store = createStoreOnThisThread({ file: join(dir, 'store.db') });
afterAll(() => store.close());

const unasked = () => {
  throw new Error('no tool is run here');
};
const NOTHING = {
  calls: { get: unasked },
  runs: { tools: unasked },
  registry: { list: unasked },
  known: { load: unasked, turns: { runOf: unasked }, inMemory: unasked },
  models: { resolve: unasked },
  owners: { callerOf: unasked, onRevoked: unasked },
};

/** Every tool that the server can have, with all of them configured. */
async function allTools() {
  mkdirSync(join(dir, 'work'));
  const on = { run_code: {}, ask_human: {}, attempt_completion: {}, new_task: {}, memory: {} };
  const tools = { ...on, workspace: 'work', file: {}, shell: {}, http: { hosts: ['a.example'] } };
  const agents = { reader: { description: 'Reads', tools: [] } };
  writeFileSync(join(dir, 'callboard.config.json'), JSON.stringify({ tools, agents }));
  const config = readConfig({}, dir);
  const parts = { threadOf: () => 'unused', env: {}, store, clock: createSystemClock(), logger };
  return [
    ...(await openTools(config, parts)),
    ...createRunTools({ ...NOTHING, fileText: unasked, resultBytes: 32 * 1024 }),
    ...new Delegation(config, NOTHING).tools({ runChild: unasked }),
  ];
}

test('the table has each tool of the server with its arguments, and no other', async () => {
  const rows = [...page.matchAll(/^\| `([a-z._]+)` +\| ((?:`\w+\??`(?:, )?)+) +\|/gm)];
  const inTable = Object.fromEntries(
    rows.map(([, name = '', args = '']) => [name, args.replaceAll('`', '').split(', ')]),
  );
  const inServer = (await allTools()).map(({ name, args }) => [
    name,
    Object.entries(args.shape).map(([arg, type]) =>
      z.safeParse(type, undefined).success ? `${arg}?` : arg,
    ),
  ]);
  expect(inTable).toEqual(Object.fromEntries(inServer));
});
