import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { expect, onTestFinished, vi } from 'vitest';
import type { ManualClock } from '#lib/client/testing/manual-clock';
import { serveHttp } from '#lib/net/testing/serve-http';
import type { WireMcpServer } from '#lib/protocol/mcp-server';
import { tempDir } from '#lib/testing/temp-dir';
import { given } from '#lib/util/given';
import { type Caller, FIRST_OPERATOR } from '../../auth/principal.ts';
import { createSystemClock } from '../../base/clock.ts';
import { type SetupOptions, setupCalls } from '../../calls/testing/setup-calls.ts';
import { createStoreOnThisThread } from '../../store/testing/store-on-this-thread.ts';
import { bundledWorker } from '../../testing/bundled-worker.ts';
import { createErrorLog } from '../../testing/error-log.ts';
import { createService, openMcpServers } from '../mcp-servers.ts';
import { mcpServersSchema } from '../mcp-servers-config.ts';
import { createFixture, type FixtureOptions } from './fixture-server.ts';

const PROGRAM = bundledWorker('mcp-fixture.mjs');

export interface ServersOptions {
  /** As in the configuration file. */
  readonly servers: Readonly<Record<string, object>>;
  /** To start again on what another one left. */
  readonly dir?: string;
  readonly calls?: SetupOptions;
  readonly isReserved?: (name: string) => boolean;
  readonly hide?: (text: string) => string;
  /** Of the connections; without it time is that of the machine. */
  readonly clock?: ManualClock;
}

/** How the fixture is started as a program. */
export const program = (...args: string[]) => ({
  command: process.execPath,
  args: ['--disable-warning=ExperimentalWarning', PROGRAM, ...args],
});

export const BY = { caller: FIRST_OPERATOR satisfies Caller, address: '127.0.0.1' };

export function newDir(): string {
  const dir = tempDir();
  return dir;
}

/** A file of tools that the fixture lists; `write` gives it others. */
export function toolsFile(...tools: object[]) {
  const path = join(newDir(), 'tools.json');
  const write = (...now: object[]) => writeFileSync(path, JSON.stringify(now));
  write(...tools);
  return { path, write };
}

/** Real programs, sockets and store; the calls are those of the engine. */
export async function setupServers({ servers, dir = newDir(), ...options }: ServersOptions) {
  const clock = options.clock ?? createSystemClock();
  const { logger, errors } = createErrorLog();
  const store = createStoreOnThisThread({ file: join(dir, 'pins.db') });
  const audited: object[] = [];
  const opened = await openMcpServers({
    ...{ store, clock, logger, random: () => 0 },
    servers: new Map(Object.entries(mcpServersSchema.parse(servers))),
    hide: options.hide ?? ((text) => text),
    isReserved: options.isReserved ?? (() => false),
  });
  const calls = await setupCalls({
    ...options.calls,
    providers: opened,
    onDurable(call) {
      if (call.completedAt !== undefined) for (const server of opened) server.callEnded(call.id);
    },
  });
  await calls.calls.recover();
  const service = createService(opened, {
    audit: {
      record: async (act) => void audited.push(act),
      entry() {
        throw new Error('no call is made at a page here');
      },
      list: async () => ({ entries: [], next: null }),
    },
    hide: options.hide ?? ((text) => text),
  });
  for (const server of opened) server.start();
  const wire = (id: string): WireMcpServer => {
    const found = service.list(BY).find((one) => one.id === id);
    if (!found) throw new Error(`no server ${id}`);
    return found;
  };
  async function close(): Promise<void> {
    calls.calls.stop();
    await Promise.all(opened.map((server) => server.stop()));
    await calls.close();
    await store.close();
  }
  let closed: Promise<void> | undefined;
  const closeOnce = () => (closed ??= close());
  onTestFinished(closeOnce, 20_000);
  return {
    ...{ calls, service, errors, audited, wire, opened, close: closeOnce, dir },
    /** What the servers keep; that of the calls is another one. */
    kept: store,
    names: () => calls.registry.list(FIRST_OPERATOR).map(({ name }) => name),
    callable: () =>
      calls.registry.list(FIRST_OPERATOR).flatMap((one) => (one.callable ? [one.name] : [])),
    until: (id: string, fields: object) =>
      vi.waitFor(() => expect(wire(id)).toMatchObject(fields), { timeout: 15_000, interval: 20 }),
    /** The record of a call, once it has ended. */
    ended: (id: string) =>
      vi.waitFor(
        async () => {
          await calls.settle();
          const call = await calls.call(id);
          expect(call.completedAt).toBeDefined();
          return call;
        },
        { timeout: 15_000, interval: 20 },
      ),
  };
}

interface HttpFixtureOptions extends FixtureOptions {
  readonly era?: 'legacy' | 'modern';
  /** Of a request with this body the connection is cut. */
  readonly isCut?: (body: string) => boolean;
}

/** The fixture behind Streamable HTTP, at a free port. `legacy`: of the older protocol alone. */
export async function startHttpFixture({
  era = 'modern',
  isCut = () => false,
  ...options
}: HttpFixtureOptions = {}) {
  const seen: IncomingMessage['headers'][] = [];
  const handler = createMcpHandler(() => createFixture(options), {});
  const { server, port, origin, close } = await serveHttp((incoming, outgoing) => {
    seen.push(incoming.headers);
    respond(incoming, outgoing).catch(() => outgoing.destroy());
  });
  async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', headers, url } = incoming;
    const controller = new AbortController();
    outgoing.on('close', () => controller.abort());
    const body = method === 'POST' ? await text(incoming) : undefined;
    if (body !== undefined && isCut(body)) return void outgoing.destroy();
    const request = new Request(`http://127.0.0.1${url}`, {
      ...{ method, headers: toHeaders(headers), signal: controller.signal },
      ...given({ body }),
    });
    const response = await (era === 'legacy' ? refuseModern(request) : handler.fetch(request));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body) for await (const chunk of response.body) outgoing.write(chunk);
    outgoing.end();
  }
  /** A server of before answers the probe as a method that it does not know. */
  async function refuseModern(request: Request): Promise<Response> {
    const isProbe = (await request.clone().text()).includes('server/discover');
    if (!isProbe) return handler.fetch(request);
    const error = { code: -32_601, message: 'Method not found' };
    return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 400 });
  }
  onTestFinished(async () => {
    await handler.close();
    await close();
  });
  const listenAgain = () =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { url: `${origin}/mcp`, seen, stop: close, listenAgain };
}

const toHeaders = (headers: IncomingMessage['headers']): Headers =>
  new Headers(
    Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  );
