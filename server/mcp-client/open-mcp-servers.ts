import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Store } from '../store/room.ts';
import { createToolChecks } from '../tools/room.ts';
import { KeptTasks } from './kept-tasks.ts';
import { McpServer } from './mcp-server.ts';
import type { McpServerSettings } from './mcp-servers-config.ts';
import { Pins } from './pins.ts';

export interface OpenMcpServersDeps {
  readonly servers: ReadonlyMap<string, McpServerSettings>;
  readonly store: Pick<Store, 'write' | 'listKept'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: string;
  /** Takes out of a text what is secret. */
  readonly hide: (text: string) => string;
  /** Whether models could take the name for a tool of the server itself. */
  readonly isReserved: (name: string) => boolean;
  readonly random?: () => number;
}

/** With the tools that each had when it was seen last. None is connected yet. */
export async function openMcpServers(deps: OpenMcpServersDeps): Promise<readonly McpServer[]> {
  const { servers, hide, random = Math.random, ...more } = deps;
  const pins = new Pins(deps);
  const known = await pins.load(new Set(servers.keys()));
  const tasks = new KeptTasks(deps);
  await tasks.load(new Set(servers.keys()));
  const check = createToolChecks({ alike: () => undefined, hide });
  const opened = [...servers].map(
    ([id, settings]) => new McpServer({ ...more, id, settings, pins, tasks, check, random }),
  );
  await Promise.all(opened.map((server) => server.restore(known.get(server.id) ?? [])));
  return opened;
}
