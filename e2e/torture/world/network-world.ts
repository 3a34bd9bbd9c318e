import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WireCallRecord } from '#lib/protocol/call-record';
import { CLOCKS } from '#lib/protocol/limits';
import type { Violation } from '../scenario.ts';
import type { ClientProcess } from './client-process.ts';
import { openToxicProxy, type ToxicProxy } from './toxic-proxy.ts';
import { until } from './until.ts';
import { type ClientWatch, watchClients } from './watch-clients.ts';
import { createWorld, type World, type WorldOptions } from './world.ts';

/** A start on a machine under load gets this long. */
const START_MS = 60_000;

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
  readonly watch: ClientWatch;
  end(): Promise<void>;
}

/** A world whose clients reach the server through lines of their own; all are there, with their tools. */
export async function createNetworkWorld(options: WorldOptions): Promise<NetworkWorld> {
  let port = 0;
  const lines = await Promise.all(
    Array.from({ length: options.clients ?? 3 }, () => openToxicProxy(() => port)),
  );
  let given = 0;
  const configFile = join(options.dir, 'config.json');
  const hosts = lines.map((line) => `127.0.0.1:${line.port}`);
  await writeFile(configFile, JSON.stringify({ allowed_hosts: hosts }));
  const world = await createWorld({
    ...options,
    serverEnv: () => ({ ...options.serverEnv?.(), CALLBOARD_CONFIG: configFile }),
    clientConfig(config) {
      port = Number(new URL(config.url).port);
      const line = lines[given];
      given += 1;
      const lined = { ...config, url: `http://127.0.0.1:${line?.port}` };
      return options.clientConfig?.(lined) ?? lined;
    },
  });
  await world.startServer();
  const watch = watchClients(world);
  for (const client of world.clients) world.startClient(client);
  const clients = await Promise.all(
    world.clients.map(async (process, index) => {
      const line = lines[index];
      if (!line) throw new Error('there are fewer lines than clients');
      const { name } = process.config;
      const id = await untilOffers(watch, name);
      return { process, line, name, id };
    }),
  );
  return {
    world,
    clients,
    watch,
    async end() {
      watch.stop();
      await world.end();
      await Promise.all(lines.map((line) => line.close()));
    },
  };
}

/** The client's id, once it is in the list with its tools. */
export const untilOffers = (watch: ClientWatch, name: string, ms = START_MS): Promise<string> =>
  until(`${name} offers its tools`, ms, () => {
    const listing = watch.now(name);
    return listing?.tools.includes('effect') && listing.client_id;
  });

/** For faults after which a call has to succeed all the same. */
/**
 * Calls that were offered over a line that was held for as long as a call may wait to be taken: its
 * client hears of them too late, and they end unexecuted.
 */
export const untakenOf = (records: readonly WireCallRecord[], heldMs: number): WireCallRecord[] =>
  records.filter(({ error }) => heldMs >= CLOCKS.queueMs && error?.clock === 'queue');

export const notSucceeded = (records: Iterable<WireCallRecord>, why: string): Violation[] =>
  [...records]
    .filter(({ status }) => status !== 'SUCCEEDED')
    .map(({ tool_call_id: id, status, phase, error }) => ({
      invariant: 'I6',
      detail: `${id} is ${status} ${phase ?? ''} (${JSON.stringify(error)}); ${why}, so it had to succeed`,
    }));
