import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { tempDir } from '../../lib/testing/temp-dir.ts';
import { BUNDLE } from './build.mjs';
import { ROOT } from './project.mjs';

/** What starts the built server, beside a server that cannot be loaded; it is on this version of Node. */
async function startOn(version: string) {
  const dir = tempDir();
  await build({
    ...BUNDLE,
    ...{ absWorkingDir: ROOT, outdir: dir, entryPoints: { server: BUNDLE.entryPoints.server } },
    define: { 'process.versions.node': JSON.stringify(version) },
  });
  writeFileSync(join(dir, 'main.mjs'), "import 'node:a-module-of-later';");
  return spawnSync(process.execPath, [join(dir, 'server.mjs')], { encoding: 'utf8' });
}

test('on a Node that is too old the built server says in one line what is needed, and ends with 1', async () => {
  const { status, stdout, stderr } = await startOn('20.20.2');
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(
    /^callboard: the server does not run on Node 20\.20\.2; run "npm start", .* Node 24 .*\n$/,
  );
});

test('on another one it is loaded', async () => {
  const { stderr } = await startOn('24.21.0');
  expect(stderr).toContain('node:a-module-of-later');
});
