import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import type { TestProject } from 'vitest/node';
import { BUNDLE } from '../bootstrap/build.mjs';
import { BUNDLED_WORKERS } from './bundled-worker.ts';

const root = join(import.meta.dirname, '../..');

/**
 * Threads and processes of tests are the ones of a build. From their sources each start would strip
 * types and load dozens of files: it took four times as long, and tests start thousands.
 */
export default async function setup(project: TestProject): Promise<void> {
  await bundle();
  project.onTestsRerun(bundle);
}

async function bundle(): Promise<void> {
  const { server: _starter, main: _main, cli: _cli, ...entryPoints } = BUNDLE.entryPoints;
  const { outputFiles } = await build({
    ...BUNDLE,
    entryPoints: {
      ...entryPoints,
      'mcp-fixture': 'server/mcp-client/testing/fixture-program.ts',
    },
    absWorkingDir: root,
    outdir: BUNDLED_WORKERS,
    write: false,
  });
  await mkdir(BUNDLED_WORKERS, { recursive: true });
  for (const { path, contents } of outputFiles) await replace(path, contents);
}

/** In one step, and only one that differs: other tests may run from the same files. */
async function replace(path: string, contents: Uint8Array): Promise<void> {
  const old = await readFile(path).catch(() => undefined);
  if (old?.equals(contents)) return;
  const fresh = join(BUNDLED_WORKERS, `.${process.pid}-${basename(path)}`);
  await writeFile(fresh, contents);
  await rename(fresh, path);
}
