import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildShim } from '../disk-shim/build-shim.ts';
import { createShimmedDisk, type ShimmedDisk } from '../disk-shim/shimmed-disk.ts';
import type { Played, TortureContext } from '../scenario.ts';
import { inWorld, type World, type WorldOptions } from './world.ts';

/** A world whose files lie behind the disk shim: the server's, and where wanted its clients'. */
export interface ShimmedWorld {
  readonly world: World;
  readonly serverDisk: ShimmedDisk;
  /** In the order of `world.clients`; empty when clients write straight to disk. */
  readonly clientDisks: readonly ShimmedDisk[];
}

export interface ShimmedWorldOptions extends WorldOptions {
  readonly keepsLog: boolean;
  readonly withClients: boolean;
}

/** Runs `play` in such a world, or tells why there can be none here. */
export async function inShimmedWorld(
  context: TortureContext,
  { keepsLog, withClients, ...options }: ShimmedWorldOptions,
  play: (shimmed: ShimmedWorld) => Promise<Played>,
): Promise<Played> {
  const dir = await context.tempDir();
  const shim = await buildShim(dir);
  if (!shim.ok) return { figures: {}, summary: 'not run', notDone: shim.reason };
  const disk = (name: string) => {
    mkdirSync(join(dir, name), { recursive: true });
    const at = { dir: join(dir, name), besideDir: dir, name };
    return createShimmedDisk({ shimFile: shim.file, keepsLog, ...at });
  };
  const serverDisk = disk('server');
  const count = withClients ? (options.clients ?? 3) : 0;
  const names = Array.from({ length: count }, (_, index) => `client-${index}`);
  const disks = new Map(names.map((name) => [name, disk(name)]));
  return inWorld(
    // The world's folder is the one whose disks these are.
    { ...context, tempDir: async () => dir },
    {
      ...options,
      serverEnv: serverDisk.env,
      clientEnv: ({ config }) => disks.get(config.name)?.env() ?? {},
    },
    (world) => play({ world, serverDisk, clientDisks: [...disks.values()] }),
  );
}
