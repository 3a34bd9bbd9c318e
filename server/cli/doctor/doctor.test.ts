import { chmodSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { serveHttp } from '#lib/net/testing/serve-http';
import { lockDataDir } from '../../store/data-dir.ts';
import { makeStoreFiles, placeStoreFiles } from '../../store/testing/store-files.ts';
import { cli, emptyFolder, Status, scriptedServer } from '../testing/setup-cli.ts';
import type { Finding } from './machine.ts';

const me = () => ({
  ...{ kind: 'operator', name: 'operator', role: 'admin', tools: null, client_id: null },
  token_id: null,
});
const model = (more: object = {}) => ({
  models: [
    {
      ...{ model: 'openai:m', label: 'M', provider: 'openai', rehearsal: false },
      ...{ images: false, default: true },
      ...more,
    },
  ],
});
const healthy = {
  'GET /healthz': () => ({ status: 'alive' }),
  'GET /v1/me': me,
  'GET /v1/models': () => model(),
};

async function examine(line: readonly string[], env: Record<string, string> = {}) {
  const { out, code } = await cli(['doctor', '--json', ...line], { env });
  const { ok, findings }: { ok: boolean; findings: Finding[] } = JSON.parse(out);
  const found = (step: string) => findings.find((one) => one.step === step);
  return { code, ok, found, findings };
}

test('[CX12] a server without fault has no step that fails', async () => {
  const { url } = await scriptedServer(healthy);
  const { code, ok, found } = await examine(['--url', url, '--token', 't']);
  expect({ code, ok }).toEqual({ code: 0, ok: true });
  for (const step of ['node', 'disk', 'server', 'clock', 'token', 'model']) {
    expect(found(step)).toMatchObject({ state: 'ok' });
  }
});

test.each([
  [
    'token',
    { 'GET /v1/me': () => new Status(401, { error: { code: 'unauthenticated', message: 'No.' } }) },
    /CALLBOARD_TOKEN/,
  ],
  ['host', { 'GET /healthz': () => new Status(421, {}) }, /allowed_hosts/],
  ['server', { 'GET /healthz': () => new Status(500, {}) }, /another program/],
  [
    'clock',
    { 'GET /healthz': () => new Status(200, {}, { date: 'Mon, 05 Jan 2026 00:00:00 GMT' }) },
    /NTP/,
  ],
  ['model', { 'GET /v1/models': () => model({ available: false }) }, /OPENAI_API_KEY/],
  [
    'model',
    { 'GET /v1/models': () => model({ available: false, model: 'compatible' }) },
    /OPENAI_BASE_URL/,
  ],
] as const)('[CX12] a fault of step %s is named with what mends it', async (step, more, mend) => {
  const { url } = await scriptedServer({ ...healthy, ...more });
  const { code, found } = await examine(['--url', url, '--token', 't']);
  expect(code).toBe(1);
  expect(found(step)).toMatchObject({ state: 'failed', mend: expect.stringMatching(mend) });
});

test('[CX12] without a server it says so, and whether its port is free', async () => {
  const taken = await serveHttp((_, response) => response.destroy());
  onTestFinished(taken.close);
  const { code, found } = await examine([], { CALLBOARD_PORT: String(taken.port) });
  expect(code).toBe(1);
  expect(found('server')).toMatchObject({
    state: 'failed',
    mend: expect.stringContaining('callboard start'),
  });
  expect(found('port')).toMatchObject({
    state: 'failed',
    mend: expect.stringContaining('CALLBOARD_PORT'),
  });
  expect((await examine([], { CALLBOARD_PORT: '0' })).found('port')).toMatchObject({ state: 'ok' });
});

test('[CX12] a data directory that others can read, or that is none, is named', async () => {
  const dir = join(emptyFolder(), 'data');
  mkdirSync(dir);
  chmodSync(dir, 0o755);
  expect((await examine(['--data-dir', dir])).found('data_dir_mode')).toMatchObject({
    state: 'warning',
    mend: `chmod 700 ${dir}`,
  });
  const file = join(emptyFolder(), 'file');
  writeFileSync(file, '');
  expect((await examine(['--data-dir', file])).found('data_dir')).toMatchObject({
    state: 'failed',
  });
});

test('[CX12] people read each step in a line, with what mends it below', async () => {
  const { out } = await cli(['doctor', '--data-dir', join(emptyFolder(), 'none')], {
    env: { CALLBOARD_PORT: '0' },
  });
  expect(out).toMatch(/ok +node: Node \d+/);
  expect(out).toMatch(/FAILED +server: no server runs.*\n +-> start it with "callboard start"/);
});

test('[CX12] an address that sends plain HTTP to TLS is named by https', async () => {
  const server = createHttpServer((request, response) => {
    const isOwn = request.headers.host?.startsWith('127.0.0.1');
    response.writeHead(isOwn ? 200 : 308).end();
  });
  await new Promise<void>((ready) => server.listen(0, ready));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const dir = inUse({ url: `http://127.0.0.1:${port}`, pid: process.pid });
  const { findings } = await examine(['--data-dir', dir]);
  const texts = findings.filter(({ step }) => step === 'addresses').map(({ text }) => text);
  const isAlone = Object.values(networkInterfaces())
    .flat()
    .every((one) => one?.internal);
  expect(texts).toContainEqual(
    expect.stringMatching(isAlone ? /only this machine/ : /^https:.* is reached from the network$/),
  );
});

/** A data directory as a running server has it: locked, with its address. */
function inUse(running: { url: string; pid: number }): string {
  const dir = emptyFolder();
  const lock = new DatabaseSync(join(dir, 'lock.db'));
  lock.exec('BEGIN EXCLUSIVE');
  onTestFinished(() => lock.close());
  writeFileSync(join(dir, 'address'), JSON.stringify(running));
  writeFileSync(join(dir, 'token'), 'a-token-of-the-operator');
  return dir;
}

test('[CX12] [ST86] with --rebuild it makes what follows from the log anew, or says why it cannot', async () => {
  const folder = emptyFolder();
  const file = join(folder, 'callboard.db');
  placeStoreFiles(file, await makeStoreFiles(join(emptyFolder(), 'made'), 3));
  const line = ['doctor', '--rebuild', '--data-dir', folder];
  const done = await cli([...line, '--json']);
  expect(done).toMatchObject({ code: 0, errors: expect.stringContaining('is whole') });
  expect(JSON.parse(done.out)).toEqual({ file });
  const lock = lockDataDir(folder);
  expect(await cli(line)).toMatchObject({ code: 75, errors: expect.stringMatching(/in use/) });
  lock.release();
  truncateSync(file, 9_000);
  expect(await cli(line)).toMatchObject({
    code: 78,
    errors: expect.stringMatching(/^callboard: .* is damaged: .*--salvage[^\n]*\n$/),
  });
  expect(await cli(['doctor', '--rebuild', '--data-dir', join(folder, 'none')])).toMatchObject({
    code: 1,
    errors: expect.stringMatching(/is not there/),
  });
});
