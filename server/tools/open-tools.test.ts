import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { sharedTempDir } from '#lib/testing/temp-dir';
import { createSystemClock } from '../base/clock.ts';
import { ConfigError, readConfig } from '../main/config.ts';
import { createStoreOnThisThread } from '../store/testing/store-on-this-thread.ts';
import { bundledWorker } from '../testing/bundled-worker.ts';
import { openTools } from './open-tools.ts';
import { runBuiltin } from './testing/run-builtin.ts';

const dir = sharedTempDir();
mkdirSync(join(dir, 'work'));
mkdirSync(join(dir, '.callboard/inner'), { recursive: true });
const clock = createSystemClock();
const store = createStoreOnThisThread({ file: join(dir, 'store.db') });
afterAll(async () => {
  await store.close();
});

const logger = { info: (line: string) => void logged.push(line) };
const logged: string[] = [];
const env = { PATH: process.env.PATH, PLANET: 'hello', OPENAI_API_KEY: 'sk-canary' };

async function open(tools?: object) {
  const file = join(dir, 'callboard.config.json');
  writeFileSync(file, JSON.stringify(tools === undefined ? {} : { tools }));
  const config = readConfig({}, dir);
  return openTools(config, { threadOf: () => 'unused', env, store, clock, logger });
}
const namesOf = async (tools?: object) => (await open(tools)).map(({ name }) => name);

test('[TB12] [TB19] [TB30] [TB40] tools are there only where the configuration asks for them', async () => {
  const three = ['weather.query', 'database.query', 'calculation.eval'];
  expect(await namesOf()).toEqual(three);
  expect(await namesOf({ workspace: 'work' })).toEqual(three);
  expect(await namesOf({ workspace: 'work', file: { write: false } })).toEqual([
    ...three,
    ...['file.read', 'file.list'],
  ]);
  expect(await namesOf({ workspace: 'work', file: {}, shell: {} })).toEqual([
    ...three,
    ...['file.read', 'file.list', 'file.write', 'shell'],
  ]);
  expect(await namesOf({ http: { hosts: ['a.example'] } })).toEqual([...three, 'http.request']);
  const others = ['run_code', 'ask_human', 'attempt_completion', 'memory.store', 'memory.recall'];
  expect(
    await namesOf({ memory: {}, run_code: {}, ask_human: {}, attempt_completion: {} }),
  ).toEqual([...three, ...others]);
});

test('[TB30] programs are given of the environment what the configuration names', async () => {
  const shell = (await open({ workspace: 'work', shell: { env: ['PLANET'] } })).at(-1);
  if (!shell) throw new Error('no shell');
  const result = await runBuiltin(shell, { argv: ['env'] });
  expect(result).toMatchObject({ stdout: expect.stringContaining('PLANET=hello') });
  expect(JSON.stringify(result)).not.toContain('canary');
});

async function openShell(isolation: string, path = process.env.PATH ?? '') {
  const filePath = join(dir, 'callboard.config.json');
  writeFileSync(filePath, JSON.stringify({ tools: { workspace: 'work', shell: { isolation } } }));
  logged.length = 0;
  const parts = { threadOf: bundledWorker, env: { PATH: path }, store, clock, logger };
  const shell = (await openTools(readConfig({}, dir), parts)).at(-1);
  if (!shell) throw new Error('no shell');
  return shell;
}

test('[TP9] T104: where programs cannot have a namespace the log says so, and "required" stops the start', async () => {
  const nowhere = join(dir, 'work');
  expect((await openShell('auto', nowhere)).name).toBe('shell');
  expect(logged).toEqual([
    expect.stringMatching(
      /^tools\.shell: programs cannot be started in a PID namespace .*: ENOENT\./,
    ),
  ]);
  await expect(openShell('required', nowhere)).rejects.toThrow(ConfigError);
  await expect(openShell('required', nowhere)).rejects.toThrow(
    /tools\.shell\.isolation is "required", and programs cannot be .*: ENOENT; allow/,
  );
  await openShell('off', nowhere);
  expect(logged).toEqual([]);
});

test('[TP9] T104: where this machine allows it, no program reads what the server was started with', async () => {
  const env = { ...process.env, SECRET_OF_TEST: 'canary-104' };
  const other = spawn('sleep', ['999'], { env, stdio: 'ignore' });
  onTestFinished(() => void other.kill('SIGKILL'));
  const shell = await openShell('auto');
  const argv = ['sh', '-c', 'cat /proc/[0-9]*/environ; true'];
  const read = await runBuiltin(shell, { argv });
  const isHeld = logged.length === 0;
  expect(JSON.stringify(read).includes('canary-104')).toBe(!isHeld);
  const required = openShell('required');
  if (isHeld) expect((await required).name).toBe('shell');
  else await expect(required).rejects.toThrow(ConfigError);
});

test.each([
  [{ shell: {} }, 'it must have a workspace for shell and file'],
  [{ workspace: 'none', file: {} }, 'it is not there; make that folder'],
  [{ workspace: '.', file: {} }, 'it may neither hold nor lie in the data folder'],
  [{ workspace: '.callboard/inner', file: {} }, 'it may neither hold nor lie in the data folder'],
  [{ workspace: 'work', shell: { env: ['CALLBOARD_TOKEN'] } }, 'is a setting of this server'],
])('[TB31] %j is refused with the reason', async (tools, reason) => {
  const opened = open(tools);
  await expect(opened).rejects.toThrow(ConfigError);
  await expect(opened).rejects.toThrow(reason);
});

test.each([
  ['its configuration file', '', {}, 'callboard.config.json'],
  [
    'a module with tools',
    'hold',
    { tools: { modules: [{ module: 'hold/lamp.mjs' }] } },
    'lamp.mjs',
  ],
  ['a module with hooks', 'hold', { hooks: [{ module: './hold/hook.mjs' }] }, 'hook.mjs'],
])('[TB31] T84: a workspace that holds %s stops the start', async (_what, within, more, held) => {
  const home = join(dir, 'home');
  mkdirSync(join(home, 'hold'), { recursive: true });
  const config = { tools: {}, ...more };
  const tools = { ...config.tools, workspace: within === '' ? '.' : within, file: {} };
  writeFileSync(join(home, 'callboard.config.json'), JSON.stringify({ ...config, tools }));
  const read = readConfig({ CALLBOARD_DATA_DIR: join(dir, '.callboard') }, home);
  const opened = openTools(read, { threadOf: () => 'unused', env, store, clock, logger });
  await expect(opened).rejects.toThrow(ConfigError);
  await expect(opened).rejects.toThrow(`/${held}, by which`);
});

const facts = `displayName: 'Lamp', description: 'Switches a lamp', effect: 'write', timeoutMs: 1000`;
const lamp = (name: string, more = '') =>
  `defineTool({ name: '${name}', ${facts}, args: z.object({ on: z.boolean() }),
    run: async ({ on }) => ({ output: on ? 'on' : 'off' }) ${more} })`;
const moduleOf = (made: string) => `export default ({ defineTool, ToolError, z }) => ${made};`;

function withModule(text: string, override?: string[]) {
  const module = `./tool-${Math.random().toString(36).slice(2)}.mjs`;
  writeFileSync(join(dir, module), text);
  return { modules: [{ module, ...(override && { override }) }] };
}

test('[TB32] a module of the operator has tools beside those of the server', async () => {
  const tools = await open(withModule(moduleOf(`[${lamp('lamp.a')}, ${lamp('lamp.b')}]`)));
  expect(tools.slice(3).map(({ name }) => name)).toEqual(['lamp.a', 'lamp.b']);
  const [, , , first] = tools;
  expect(first && (await runBuiltin(first, { on: true }))).toBe('on');
});

test.each(['tool.mjs', 'callboard.config.json'])(
  '[TB32] where others may write %s, which is or names code, the server does not start',
  async (file) => {
    writeFileSync(join(dir, 'tool.mjs'), moduleOf(lamp('lamp.a')));
    const config = { modules: [{ module: './tool.mjs' }] };
    await expect(open(config)).resolves.toHaveLength(4);
    const path = join(dir, file);
    const refusal = new RegExp(`${file} .* others than its owner may write it.*chmod go-w`);
    try {
      chmodSync(path, 0o664);
      await expect(open(config)).rejects.toThrow(refusal);
    } finally {
      chmodSync(path, 0o600);
    }
  },
);

test('[TB33] it takes the place of another where its override names that, and nowhere else', async () => {
  const text = moduleOf(lamp('Weather_query'));
  await expect(open(withModule(text))).rejects.toThrow(
    /the tool "Weather_query" of .* is there already; .* add it to "override"/,
  );
  const tools = await open(withModule(text, ['Weather_query']));
  expect(tools.map(({ name }) => name)).toEqual([
    ...['Weather_query', 'database.query', 'calculation.eval'],
  ]);
  await expect(open(withModule(text, ['weather.query']))).rejects.toThrow(
    'has no tool "weather.query" to override one with',
  );
});

test.each([
  ['export const tool = 1;', 'its default export is not a function'],
  [moduleOf('({ name: "x" })'), 'it gives something that defineTool did not make'],
  [moduleOf(lamp('9lamp')), 'name: it must be an ASCII letter'],
  [moduleOf(lamp('lamp', ', timeoutMs: 5')), 'timeoutMs'],
  [moduleOf(lamp('lamp', ', args: 1')), 'args: it must be a z.object'],
  [
    moduleOf(lamp('lamp', ', args: z.object({ on: z.string().regex(/(?<=x)y/) })')),
    'cannot be checked at #/properties/on/pattern',
  ],
  [
    moduleOf(lamp('lamp', ', run: undefined')),
    'run: it must have a function run, create or question',
  ],
  [moduleOf(lamp('lamp', ', run: "on"')), 'run: it must have a function run, create or question'],
  [moduleOf(lamp('lamp', ', operands: ["on"]')), 'operands: it must be a function'],
  [moduleOf(lamp('lamp', ', onPartial: true')), 'onPartial: it must be a function'],
  ['throw new Error("no lamps");', 'no lamps'],
])('[TB34] the module %j stops the start with the reason', async (text, reason) => {
  const opened = open(withModule(text));
  await expect(opened).rejects.toThrow(ConfigError);
  await expect(opened).rejects.toThrow(/the tool ".*" cannot be used: /);
  await expect(opened).rejects.toThrow(reason);
});

test('[TB17] no query reads what is remembered', async () => {
  writeFileSync(join(dir, 'callboard.config.json'), '{}');
  const config = { ...readConfig({}, dir), dataDir: dir };
  // The database of the data directory.
  const own = createStoreOnThisThread({ file: join(dir, 'callboard.db') });
  const memory = { ownerToken: 'tok_1', key: 'k', text: 'canary', putAt: 1, untrusted: null };
  await own.write([{ type: 'put_memory', memory }]);
  const opened = await openTools(config, {
    threadOf: bundledWorker,
    store: own,
    clock,
    env,
    logger,
  });
  const query = opened.find(({ name }) => name === 'database.query');
  if (!query) throw new Error('database.query is missing');
  for (const table of ['memories', 'memory_text', 'memory_text_data', 'memory_text_idx']) {
    const asking = runBuiltin(query, { sql: `select * from ${table}` });
    await expect(asking, table).rejects.toThrow(/cannot be read/);
  }
  await own.close();
});

test('a database that is not there stops the start, and a path is one from the folder of the file', async () => {
  const filePath = join(dir, 'callboard.config.json');
  const start = async () => {
    writeFileSync(filePath, JSON.stringify({ database: 'shop.db' }));
    const parts = { threadOf: () => 'unused', env, store, clock, logger };
    return openTools(readConfig({ CALLBOARD_CONFIG: filePath }, '/'), parts);
  };
  await expect(start()).rejects.toThrow(
    `${filePath}: database is "${join(dir, 'shop.db')}": it must be a SQLite file that is there`,
  );
  writeFileSync(join(dir, 'shop.db'), '');
  expect((await start()).map(({ name }) => name)).toContain('database.query');
});
