import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import {
  command,
  compile,
  filesIn,
  filesWith,
  installPackage,
  ROOT,
  serve,
} from './support/installed-package.ts';

/** An install unpacks some 300 MB of Next and its parts. */
const LONGEST_MS = 240_000;
const MOST_PACKED_BYTES = 6_000_000;

const CONSUMER = `
import { callboard } from 'callboard/client';
import { createNodeToolClient } from 'callboard/node';
import { useTool } from 'callboard/react';
export const remove: () => void = callboard.tool({ name: 'a', description: 'b', execute: () => 1 });
export const Board = () => { useTool(null); return null; };
export const client = createNodeToolClient({ url: '', token: '', name: 'n', dataDir: 'd', tools: [] });
// @ts-expect-error it is no number
callboard.connect({ token: 1 });
`;

type Package = Awaited<ReturnType<typeof installPackage>>;
let ours: Package;

test.describe.configure({ mode: 'serial' });
test.setTimeout(LONGEST_MS);
test.beforeAll(async () => {
  test.setTimeout(LONGEST_MS);
  ours = await installPackage();
});
test.afterAll(() => ours.remove());

test('[CX17] the package holds what it needs to run, and nothing of this repository besides', async () => {
  const paths = ours.facts.files.map(({ path }) => path);
  const foreign = /(\.test\.|\.spec\.|^e2e\/|^app\/|^components\/|^lib\/|\.map$|\/cache\/|\.tsx?$)/;
  expect(paths.filter((path) => foreign.test(path) && !path.endsWith('.d.ts'))).toEqual([]);
  for (const needed of [
    'dist/server.mjs',
    'dist/cli.mjs',
    'dist/client/client.js',
    '.next/BUILD_ID',
  ]) {
    expect(paths).toContain(needed);
  }
  const missing: string[] = [];
  for (const path of paths.filter((one) => one.startsWith('server/bootstrap/'))) {
    const source = await readFile(join(ours.installed, path), 'utf8');
    for (const [, name = ''] of source.matchAll(/^import .*from '\.\/([^']+)';$/gm)) {
      if (!paths.includes(`server/bootstrap/${name}`)) missing.push(`${path} needs ${name}`);
    }
  }
  expect(missing).toEqual([]);
  expect(await filesWith(ours.installed, ours.facts, ROOT)).toEqual([]);
  expect(ours.facts.size).toBeLessThan(MOST_PACKED_BYTES);
});

test('[CX14] [CX10] npx serves the app, the command line calls it, and a backup starts again', async () => {
  const { app, installed } = ours;
  const before = await filesIn(installed);
  const server = await serve(app);
  const dataDir = join(app, '.callboard');
  try {
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${server.url}/client.js`)).text()).toContain('callboard');
    const page = await fetch(`${server.url}/sign-in`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<html')]);
    expect(existsSync(dataDir)).toBe(true);

    const called = await command(app, [
      'call',
      'calculation.eval',
      '{"expression": "6 * 7"}',
      '--json',
    ]);
    expect(called.code, called.errors).toBe(0);
    expect(JSON.parse(called.out)).toMatchObject({
      status: 'SUCCEEDED',
      card: { status: 'SUCCESS' },
    });
    const examined = await command(app, ['doctor']);
    expect(examined.code, examined.out).toBe(0);
    const copied = await command(app, ['backup', 'copy', '--json']);
    expect(copied.code, copied.errors).toBe(0);
  } finally {
    await server.stop();
  }
  await expect.poll(() => existsSync(join(dataDir, 'address'))).toBe(false);
  expect(await command(app, ['tools'])).toMatchObject({ code: 3 });

  const env = { CALLBOARD_DATA_DIR: join(app, 'copy') };
  const restored = await serve(app, env);
  try {
    const exported = await command(app, ['export', '-'], env);
    expect(exported.out).toContain('calculation.eval');
    expect(exported.errors).toContain('1 calls');
  } finally {
    await restored.stop();
  }
  // The package itself was only read.
  expect(await filesIn(installed)).toEqual(before);
});

test('[CX14] the client libraries of the package have their types', async () => {
  expect(await compile(ours.app, CONSUMER)).toBe('');
});
