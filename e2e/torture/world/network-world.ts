import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WireCallRecord } from '#lib/protocol/call-record';
import { CLOCKS } from '#lib/protocol/limits';
import type { Played, TortureContext } from '../scenario.ts';
import type { ClientProcess } from './client-process.ts';
import { openToxicProxy, type ToxicProxy } from './toxic-proxy.ts';
import { must, PATIENCE_MS } from './until.ts';
import type { Watcher } from './watcher.ts';
import { inWorld, type World, type WorldOptions } from './world.ts';

/** A client, and the line that is its only way to the server. */
export interface LinedClient {
  readonly process: ClientProcess;
  readonly line: ToxicProxy;
  readonly name: string;
  /** Once it is there. */
  readonly id: string;
}

export interface NetworkWorld {
  readonly world: World;
  readonly clients: readonly LinedClient[];
}

/** Lines to a server whose configuration lets them in. */
export async function openLines(count: number, target: () => number, dir: string, more = {}) {
  const lines = await Promise.all(Array.from({ length: count }, () => openToxicProxy(target)));
  const config = join(dir, 'config.json');
  const hosts = lines.map((line) => `127.0.0.1:${line.port}`);
  await writeFile(config, JSON.stringify({ allowed_hosts: hosts, ...more }));
  const close = () => Promise.all(lines.map((line) => line.close()));
  return { lines, env: { CALLBOARD_CONFIG: config }, close };
}

/** Runs `play` where clients reach the server through lines of their own, once all are there. */
export async function inNetworkWorld(
  context: TortureContext,
  options: WorldOptions,
  play: (network: NetworkWorld) => Promise<Played>,
): Promise<Played> {
  let port = 0;
  const dir = await context.tempDir();
  const { lines, env, close } = await openLines(options.clients ?? 3, () => port, dir);
  let given = 0;
  const lined: WorldOptions = {
    ...options,
    serverEnv: () => ({ ...options.serverEnv?.(), ...env }),
    clientConfig(config) {
      port = Number(new URL(config.url).port);
      const line = lines[given];
      given += 1;
      const through = { ...config, url: `http://127.0.0.1:${line?.port}` };
      return options.clientConfig?.(through) ?? through;
    },
  };
  try {
    return await inWorld(context, lined, async (world) => {
      await world.startServer();
      world.startClients();
      const clients = await Promise.all(
        world.clients.map(async (process, index) => {
          const line = lines[index];
          if (!line) throw new Error('there are fewer lines than clients');
          const { name } = process.config;
          return { process, line, name, id: await untilOffers(world.watcher, name) };
        }),
      );
      return play({ world, clients });
    });
  } finally {
    await close();
  }
}

/** The client's id, once it is in the list with its tools. */
export const untilOffers = (watcher: Watcher, name: string, ms = PATIENCE_MS): Promise<string> =>
  must(
    `${name} offers its tools`,
    () => {
      const listing = watcher.now(name);
      return listing?.tools.includes('effect') && listing.client_id;
    },
    ms,
  );

/**
 * The calls that clients had to answer: not those that were offered over a line that was held for as
 * long as a call may wait to be taken. Of these its client hears too late, and they end unexecuted.
 */
export const takenOf = (records: ReadonlyMap<string, WireCallRecord>, heldMs: number): string[] =>
  [...records.values()]
    .filter(({ error }) => heldMs < CLOCKS.queueMs || error?.clock !== 'queue')
    .map(({ tool_call_id: id }) => id);
