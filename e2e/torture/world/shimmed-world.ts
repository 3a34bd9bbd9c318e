import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildShim } from '../disk-shim/build-shim.ts';
import { createShimmedDisk, type ShimmedDisk } from '../disk-shim/shimmed-disk.ts';
import type { Outcome, TortureContext } from '../scenario.ts';
import { createWorld, type World, type WorldOptions } from './world.ts';

/** A world whose files lie behind the disk shim: the server's, and where wanted its clients'. */
export interface ShimmedWorld {
  readonly world: World;
  readonly serverDisk: ShimmedDisk;
  /** In the order of `world.clients`; empty when clients write straight to disk. */
  readonly clientDisks: readonly ShimmedDisk[];
}

export interface ShimmedWorldOptions
  extends Pick<WorldOptions, 'clients' | 'callers' | 'timeoutMs' | 'troubles'> {
  readonly keepsLog: boolean;
  readonly withClients: boolean;
}

/** Runs `play` in such a world, or tells why there can be none here. */
export async function inShimmedWorld(
  context: TortureContext,
  options: ShimmedWorldOptions,
  play: (shimmed: ShimmedWorld) => Promise<Outcome>,
): Promise<Outcome> {
  const dir = await context.tempDir();
  const shim = await buildShim(dir);
  if (!shim.ok) {
    return { figures: {}, violations: [], summary: 'not run', notDone: shim.reason };
  }
  const disk = (name: string) => {
    mkdirSync(join(dir, name), { recursive: true });
    const { keepsLog } = options;
    return createShimmedDisk({
      shimFile: shim.file,
      dir: join(dir, name),
      besideDir: dir,
      name,
      keepsLog,
    });
  };
  const serverDisk = disk('server');
  const count = options.clients ?? 3;
  const names = Array.from({ length: options.withClients ? count : 0 }, (_, i) => `client-${i}`);
  const disks = new Map(names.map((name) => [name, disk(name)]));
  const { build, random } = context;
  const world = await createWorld({
    ...options,
    build,
    dir,
    random,
    serverEnv: serverDisk.env,
    clientEnv: ({ config }) => disks.get(config.name)?.env() ?? {},
  });
  try {
    return await play({ world, serverDisk, clientDisks: [...disks.values()] });
  } finally {
    await world.end();
  }
}
