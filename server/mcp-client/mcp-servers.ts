import type { Call } from '#lib/call/call';
import { HttpError } from '#lib/protocol/http-error';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { WireMcpServer } from '#lib/protocol/mcp-server';
import { spellingOf } from '#lib/protocol/tool-name';
import { stripInvisible } from '#lib/text/invisible';
import { type Audit, byCaller, FIRST_OPERATOR, mayDecide } from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { readVersion } from '../base/project.ts';
import type { By } from '../clients/room.ts';
import type { Store } from '../store/room.ts';
import { createToolChecks, type ToolRegistry } from '../tools/room.ts';
import { KeptTasks } from './follow-task.ts';
import { McpServer } from './mcp-server.ts';
import { configuredEffectOf, isHttpServer, type McpServerSettings } from './mcp-servers-config.ts';
import { Pins, toPinnedTool } from './pins.ts';

interface ServiceDeps {
  readonly audit: Audit;
  /** Takes out of a text what is secret. */
  readonly hide: (text: string) => string;
}

export type McpServersService = ReturnType<typeof createService>;

/** Shows people the servers, and does what they do to them. What is refused is thrown as `HttpError`. */
export function createService(servers: readonly McpServer[], { audit, hide }: ServiceDeps) {
  const find = (id: string): McpServer => {
    const server = servers.find((one) => one.id === id);
    if (server) return server;
    const message = `The configuration has no MCP server ${JSON.stringify(id.slice(0, 64))}; GET /v1/mcp-servers lists them.`;
    throw new HttpError('not_found', message);
  };
  const toWire = (server: McpServer, { caller }: By): WireMcpServer => {
    const { id, settings, status } = server;
    const { state, protocol, era, lastError, nextTryAt, tools, refusals, stderrTail } = status;
    // It came from outside, and a person is to read it.
    const shown = (text: string) => hide(stripInvisible(text));
    const isHttp = isHttpServer(settings);
    return {
      id,
      state,
      protocol,
      era,
      transport: isHttp ? 'http' : 'stdio',
      target: shown(targetOf(settings)),
      next_try_at: nextTryAt === null ? null : nextTryAt / 1_000,
      server: status.server && {
        name: shown(status.server.name).slice(0, 200),
        version: shown(status.server.version).slice(0, 100),
      },
      last_error: lastError && {
        message: shown(lastError.message).slice(0, 2_000),
        at: lastError.at / 1_000,
      },
      stderr_tail: isHttp || !mayDecide(caller) ? null : shown(stderrTail),
      tools: tools.map(({ foreign, tool, changed }) => {
        const { effect, isDefault = false } = configuredEffectOf(settings.tools, foreign);
        const named = { name: tool.name, foreign_name: shown(foreign) };
        return { ...named, effect, is_default: isDefault, is_withheld: changed !== undefined };
      }),
      changes: tools.flatMap(({ tool, changed }) =>
        changed ? [{ tool: toPinnedTool(changed), before: toPinnedTool(tool) }] : [],
      ),
      rejected: refusals.refused.map((one) => ({ ...one, name: shown(one.name) })),
      ...(refusals.count > refusals.refused.length && { rejected_count: refusals.count }),
    };
  };
  return {
    list: (by: By): WireMcpServer[] => servers.map((server) => toWire(server, by)),
    /** Connects anew, at once; what runs at the server is lost. */
    async reconnect(id: string, by: By): Promise<WireMcpServer> {
      const server = find(id);
      server.reconnect();
      const act = { act: 'mcp_server_reconnected', target: id } as const;
      await audit.record(byCaller(by.caller, by.address, act));
      return toWire(server, by);
    },
    /** Takes over what the server changed, by the hashes that the person saw. */
    async accept(id: string, hashes: readonly string[], by: By): Promise<WireMcpServer> {
      const server = find(id);
      const accepted = await server.accept(hashes);
      if (!accepted) {
        const message = 'One of these changes is not there any more: look at the list again.';
        throw new HttpError('conflict', message);
      }
      const tools = accepted.map(({ name, hash }) => ({ name, hash }));
      const act = { act: 'mcp_tools_accepted', target: id, detail: { tools } } as const;
      await audit.record(byCaller(by.caller, by.address, act));
      return toWire(server, by);
    },
  };
}

/** Arguments and queries may have secrets. */
function targetOf(settings: McpServerSettings): string {
  if (!isHttpServer(settings)) return settings.command;
  const { origin, pathname } = new URL(settings.url);
  return `${origin}${pathname}`;
}

interface OpenMcpServersDeps {
  readonly servers: ReadonlyMap<string, McpServerSettings>;
  readonly store: Pick<Store, 'write' | 'listKept'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Takes out of a text what is secret. */
  readonly hide: (text: string) => string;
  /** Tells that models could take the name for a tool of the server itself. */
  readonly isReserved: (name: string) => boolean;
  readonly random?: () => number;
}

/** Opens them with the tools that each had when it was seen last. None is connected yet. */
export async function openMcpServers(deps: OpenMcpServersDeps): Promise<readonly McpServer[]> {
  const { servers, hide, random = Math.random, ...more } = deps;
  const version = readVersion();
  const pins = new Pins(deps);
  const known = await pins.load(new Set(servers.keys()));
  const tasks = new KeptTasks(deps);
  await tasks.load(new Set(servers.keys()));
  const check = createToolChecks({ alike: () => undefined, hide });
  const opened = [...servers].map(
    ([id, settings]) =>
      new McpServer({ ...more, id, settings, version, pins, tasks, check, random }),
  );
  await Promise.all(opened.map((server) => server.restore(known.get(server.id) ?? [])));
  return opened;
}

export interface ServeMcpServersDeps
  extends Omit<OpenMcpServersDeps, 'servers' | 'isReserved'>,
    ServiceDeps {
  readonly registry: ToolRegistry;
  readonly calls: {
    onDurable(listener: (call: Pick<Call, 'id' | 'status'>) => void): void;
  };
}

/** The servers of the configuration: their tools are offered from now on, and are called once `start` was. */
export async function serveMcpServers(
  servers: OpenMcpServersDeps['servers'],
  { registry, calls, ...deps }: ServeMcpServersDeps,
) {
  const own = new Set(registry.list(FIRST_OPERATOR).map(({ name }) => spellingOf(name)));
  const isReserved = (name: string) => own.has(spellingOf(name));
  const opened = await openMcpServers({ ...deps, servers, isReserved });
  for (const server of opened) registry.provide(server);
  const callEnded = ({ id, status }: Pick<Call, 'id' | 'status'>) => {
    if (isFinalStatus(status)) for (const server of opened) server.callEnded(id);
  };
  if (opened.length > 0) calls.onDurable(callEnded);
  return {
    service: createService(opened, deps),
    start(): void {
      for (const server of opened) server.start();
    },
    stop: () => Promise.all(opened.map((server) => server.stop())),
  };
}
