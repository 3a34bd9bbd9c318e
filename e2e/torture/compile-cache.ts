import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Build } from './build-variant.ts';
import { startServer } from './world/server-process.ts';

const FOLDER = resolve(import.meta.dirname, '../../dist/torture');

/**
 * Has each process that is started from here on keep what it compiled for the next one. It does so
 * only at its end, which a server that is killed does not see; so one is started and stopped first.
 * Each build has paths of its own, and nothing is ever dropped from a cache: this one goes at the end.
 */
export async function keepCompiled(build: Build): Promise<{ remove(): Promise<void> }> {
  await mkdir(FOLDER, { recursive: true });
  const cache = await mkdtemp(join(FOLDER, 'compiled-'));
  process.env.NODE_COMPILE_CACHE = cache;
  const dataDir = await mkdtemp(join(FOLDER, 'warm-'));
  const server = startServer({
    serverFile: build.serverFile,
    dataDir,
    port: 0,
    token: 'a'.repeat(32),
  });
  const ready = await server.ready;
  await server.end('SIGTERM');
  await rm(dataDir, { recursive: true });
  if (ready === undefined) throw new Error(`the server does not start:\n${server.log()}`);
  return {
    async remove() {
      delete process.env.NODE_COMPILE_CACHE;
      await rm(cache, { recursive: true, force: true });
    },
  };
}
