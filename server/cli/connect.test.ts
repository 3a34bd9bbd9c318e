import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { generate } from 'selfsigned';
import { expect, onTestFinished, test } from 'vitest';
import { EXIT_CODES } from './exit-codes.ts';
import { cli, emptyFolder, Status, scriptedServer } from './testing/setup-cli.ts';

const runs = { 'GET /v1/runs': () => ({ runs: [], next_cursor: null }) };

/** A data directory as a server leaves it; `isRunning` holds its lock. */
function dataDir({ url, isRunning }: { url: string; isRunning: boolean }): string {
  const dir = emptyFolder();
  writeFileSync(join(dir, 'token'), 'token-of-the-directory\n');
  writeFileSync(join(dir, 'address'), JSON.stringify({ url, pid: 1 }));
  const lock = new DatabaseSync(join(dir, 'lock.db'));
  if (isRunning) lock.exec('BEGIN EXCLUSIVE');
  else lock.close();
  onTestFinished(() => {
    if (lock.isOpen) lock.close();
  });
  return dir;
}

test('[CX3] [CX5] the server of a data directory is found by it, with its token', async () => {
  const { url, asked } = await scriptedServer(runs);
  const env = { CALLBOARD_DATA_DIR: dataDir({ url, isRunning: true }) };
  expect(await cli(['runs'], { env })).toMatchObject({ code: 0 });
  expect(asked.map(({ token }) => token)).toEqual(['token-of-the-directory']);
});

test('[CX5] the address that a killed server left is not used', async () => {
  const { url, asked } = await scriptedServer(runs);
  const ended = await cli(['runs', '--data-dir', dataDir({ url, isRunning: false })]);
  expect(ended.code).toBe(EXIT_CODES.unreachable.code);
  expect(ended.errors).toMatch(/no server runs on the data directory .*callboard start/);
  expect(asked).toEqual([]);
});

test('[CX3] the token of the directory does not go to another address', async () => {
  const [own, other] = [await scriptedServer(runs), await scriptedServer(runs)];
  const env = { CALLBOARD_DATA_DIR: dataDir({ url: own.url, isRunning: true }) };
  const ended = await cli(['runs', '--url', other.url], { env });
  expect(ended.code).toBe(EXIT_CODES.refused.code);
  expect(ended.errors).toContain(`there is no token for ${other.url}`);
  expect(other.asked).toEqual([]);
  const both = ['--url', other.url, '--data-dir', env.CALLBOARD_DATA_DIR];
  expect(await cli(['runs', ...both])).toMatchObject({ code: 0 });
  expect(await cli(['runs'], { env: { ...env, CALLBOARD_URL: own.url } })).toMatchObject({
    code: 0,
  });
});

test('[CX3] a redirect is not followed', async () => {
  const other = await scriptedServer(runs);
  const location = `${other.url}/v1/runs`;
  const { url } = await scriptedServer({ 'GET /v1/runs': () => new Status(307, {}, { location }) });
  const ended = await cli(['runs', '--url', url, '--token', 't']);
  expect(ended.code).toBe(EXIT_CODES.unreachable.code);
  expect(other.asked).toEqual([]);
});

test('[CX13] the authority that the server made is trusted; without it the certificate is refused', async () => {
  const trusted = getCACertificates('default');
  onTestFinished(() => setDefaultCACertificates(trusted));
  const notAfterDate = new Date(Date.now() + 86_400_000);
  const authority = await generate([{ name: 'commonName', value: 'Test CA' }], {
    notAfterDate,
    extensions: [{ name: 'basicConstraints', cA: true, critical: true }],
  });
  const own = await generate([{ name: 'commonName', value: 'board' }], {
    notAfterDate,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
    ca: { key: authority.private, cert: authority.cert },
  });
  const server = createServer({ key: own.private, cert: own.cert }, (_, response) => {
    response.end('{"runs":[],"next_cursor":null}');
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void server.close());
  const address = server.address();
  const url = `https://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;

  const refused = await cli(['runs', '--url', url, '--token', 't']);
  expect(refused.code).toBe(EXIT_CODES.unreachable.code);
  expect(refused.errors).toMatch(/certificate.*--ca/);
  const examined = await cli(['doctor', '--url', url, '--token', 't', '--json']);
  expect(JSON.parse(examined.out).findings).toContainEqual(
    expect.objectContaining({
      step: 'tls',
      state: 'failed',
      mend: expect.stringContaining('--ca'),
    }),
  );

  const dir = dataDir({ url, isRunning: true });
  mkdirSync(join(dir, 'tls'));
  writeFileSync(join(dir, 'tls', 'ca.crt'), authority.cert);
  expect(await cli(['runs', '--data-dir', dir])).toMatchObject({ code: 0 });
  const examinedAgain = await cli(['doctor', '--data-dir', dir, '--json']);
  expect(JSON.parse(examinedAgain.out).findings).toContainEqual(
    expect.objectContaining({
      step: 'tls',
      state: 'warning',
      text: expect.stringContaining('127.0.0.1'),
    }),
  );
});
