import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BrowserContext, chromium } from 'playwright';
import { callRecordSchema, type WireCallRecord } from '#lib/protocol/call-record';
import { type PageServer, startPageServer } from '../../support/page-server.ts';
import type { Build } from '../build-variant.ts';
import type { Violation } from '../scenario.ts';
import { createApi } from './api.ts';
import { mainProcessesOf, signal } from './browser-processes.ts';
import { checkInvariants } from './check-invariants.ts';
import type { ClientFacts } from './client-facts.ts';
import { gatherFacts } from './gather-facts.ts';
import { startServer, takePort } from './server-process.ts';
import { within } from './within.ts';
import { createWitness, hashOf } from './witness.ts';

/** A real Chromium with a profile of its own. */
export interface RealBrowser {
  readonly profile: string;
  readonly context: BrowserContext;
  /** Ends all of it at once. Its profile stays. */
  kill(): Promise<void>;
}

export interface InvokeOptions {
  readonly client?: string;
  readonly timeoutMs?: number;
  readonly ms?: number;
}

/** A server, and pages of a real browser as its clients. What they do is told to the harness. */
export interface PageWorld {
  readonly pages: PageServer;
  /** The browser has a new profile, or one from before. */
  launch(profile?: string): Promise<RealBrowser>;
  pageUrl(name: string, hold?: number): string;
  invoke(tool: 'effect' | 'read', options?: InvokeOptions): Promise<string>;
  cancel(id: string): Promise<void>;
  read(id: string): Promise<WireCallRecord>;
  /** The record once it is final; undefined when it is not in this time. */
  final(id: string, withinMs: number): Promise<WireCallRecord | undefined>;
  /** All that must hold of every call so far. */
  check(): Promise<{ violations: Violation[]; figures: Record<string, number> }>;
  end(): Promise<void>;
}

export async function createPageWorld(options: {
  readonly build: Build;
  readonly dir: string;
  readonly chromium: string;
}): Promise<PageWorld> {
  const { build, dir } = options;
  const pages = await startPageServer(await readFile(build.pageFile, 'utf8'));
  const config = join(dir, 'config.json');
  await writeFile(config, JSON.stringify({ allowed_origins: [pages.origin] }));
  const [port, token] = [await takePort(), randomBytes(24).toString('base64url')];
  const dataDir = join(dir, 'server');
  await mkdir(dataDir, { recursive: true });
  const env = { CALLBOARD_CONFIG: config };
  const server = startServer({ serverFile: build.serverFile, dataDir, port, token, env });
  if ((await server.ready) === undefined) throw new Error(`no server: ${server.log()}`);
  const board = `http://127.0.0.1:${port}`;
  const api = createApi(board, token);
  const witness = createWitness();
  const browsers = new Set<RealBrowser>();
  let nonces = 0;
  let profiles = 0;

  async function launch(profile = join(dir, `profile-${++profiles}`)): Promise<RealBrowser> {
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: options.chromium,
      args: ['--no-sandbox'],
    });
    const browser: RealBrowser = {
      profile,
      context,
      async kill() {
        browsers.delete(browser);
        const closed = new Promise((resolve) => context.once('close', resolve));
        for (const pid of mainProcessesOf(profile)) signal(pid, 'SIGKILL');
        await within(10_000, 'the browser ends', closed);
      },
    };
    browsers.add(browser);
    return browser;
  }

  async function invoke(tool: 'effect' | 'read', more: InvokeOptions = {}): Promise<string> {
    const nonce = `page-${++nonces}`;
    const answer = await api.ask('POST', `/v1/tools/${tool}/invoke`, {
      body: {
        run_id: 'run_pages',
        args: { nonce, ms: more.ms ?? 0 },
        ...(more.client === undefined ? {} : { client: more.client }),
        ...(more.timeoutMs === undefined ? {} : { timeout_ms: more.timeoutMs }),
      },
    });
    if (answer?.status !== 202) throw new Error(`invoke ${tool}: ${JSON.stringify(answer)}`);
    const { tool_call_id: id } = answer.body as { tool_call_id: string };
    witness.accepted(id, { key: nonce, tool, nonce });
    return id;
  }

  async function read(id: string, waitMs = 0): Promise<WireCallRecord> {
    const answer = await api.ask('GET', `/v1/tool_calls/${id}?wait_ms=${Math.round(waitMs)}`);
    if (answer?.status !== 200) throw new Error(`${id}: ${JSON.stringify(answer)}`);
    const record = callRecordSchema.parse(answer.body);
    witness.saw(record);
    return record;
  }

  return {
    pages,
    launch,
    invoke,
    read,
    pageUrl: (name, hold) => pages.pageUrl({ board, token, name, hold }),
    async cancel(id) {
      await api.ask('POST', `/v1/tool_calls/${id}/cancel`, { body: {} });
    },
    async final(id, withinMs) {
      const giveUpAt = performance.now() + withinMs;
      for (;;) {
        const left = giveUpAt - performance.now();
        const record = await read(id, Math.max(0, Math.min(left, 30_000)));
        if (record.completed_at !== null) return record;
        if (left <= 0) return undefined;
      }
    },
    async check() {
      // A tool that begins late must have been seen, and an acknowledgement may be on its way.
      await sleep(300);
      const facts = await gatherFacts({
        ...{ api, witness, shown: new Map<string, string>() },
        clients: () => factsOf(pages),
        effects: () => pages.effects(),
      });
      const { records, clients, effects } = facts;
      const violations = checkInvariants(facts);
      const of = (test: (record: WireCallRecord) => boolean) =>
        [...records.values()].filter(test).length;
      return {
        violations,
        figures: {
          calls: records.size,
          succeeded: of(({ status }) => status === 'SUCCEEDED'),
          timed_out: of(({ status }) => status === 'TIMEOUT'),
          outcome_unknown: of(({ error }) => error?.code === 'outcome_unknown'),
          executed_unknown: of(({ error }) => error?.executed === 'unknown'),
          effects: effects.size,
          acknowledged: clients.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0),
          problems: clients.reduce((sum, { problems }) => sum + problems.length, 0),
        },
      };
    },
    async end() {
      await Promise.all([...browsers].map((browser) => browser.kill()));
      await Promise.all([server.kill(), pages.close()]);
    },
  };
}

/** The facts that the pages told are read as those of any other client. */
function factsOf({ told }: PageServer): ClientFacts[] {
  return [...new Set(told.map(({ name }) => name))].map((name) => {
    const own = told.filter((one) => one.name === name);
    const at = (point: string) => own.filter((one) => one.point === point);
    return {
      name,
      clientIds: new Set(at('welcome').flatMap(({ client }) => client ?? [])),
      acknowledged: at('acknowledged').map(({ call = '', disposition = '', answer }) => ({
        id: call,
        disposition,
        hash: hashOf(answer),
      })),
      rejected: at('rejected').length,
      problems: at('problem').flatMap(({ problem }) => problem ?? []),
    };
  });
}
