import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BrowserContext, chromium } from 'playwright';
import { freePort } from '../../support/free-port.ts';
import { type PageServer, startPageServer } from '../../support/page-server.ts';
import type { Bad, Played, TortureContext } from '../scenario.ts';
import { type Api, createApi } from './api.ts';
import { canFindProcesses, mainProcessesOf, signal } from './browser-processes.ts';
import { checkInvariants, figuresOf } from './check-invariants.ts';
import type { ClientFacts } from './client-facts.ts';
import { startServer } from './server-process.ts';
import { within } from './until.ts';
import { createWitness, hashOf } from './witness.ts';

/** A real Chromium with a profile of its own. */
export interface RealBrowser {
  readonly profile: string;
  readonly context: BrowserContext;
  /** Ends all of it at once. Its profile stays. */
  kill(): Promise<void>;
}

/** A server, and pages of a real browser as its clients. What they do is told to the harness. */
export interface PageWorld {
  readonly pages: PageServer;
  readonly api: Api;
  readonly bad: Bad;
  /** The browser has a new profile, or one from before. */
  launch(profile?: string): Promise<RealBrowser>;
  pageUrl(name: string, hold?: number): string;
  /** Resolves once a page has said that it runs the call. */
  untilBegun(id: string): Promise<unknown>;
  /** All that must hold of every call so far; gives the figures. */
  rest(): Promise<Record<string, number>>;
}

/** Runs `play` with pages of a real browser, or tells why there are none here. */
export async function inPageWorld(
  { build, bad, tempDir, chromium: executablePath }: TortureContext,
  play: (world: PageWorld) => Promise<Played>,
): Promise<Played> {
  if (executablePath === undefined || !canFindProcesses())
    return {
      figures: {},
      summary: 'needs a browser whose processes can be found.',
      notDone: 'no Chromium (CALLBOARD_CHROMIUM), or no /proc to find its processes in',
    };
  const dir = await tempDir();
  const pages = await startPageServer(await readFile(build.pageFile, 'utf8'));
  const config = join(dir, 'config.json');
  await writeFile(config, JSON.stringify({ allowed_origins: [pages.origin] }));
  const [port, token] = [await freePort(), randomBytes(24).toString('base64url')];
  const dataDir = join(dir, 'server');
  await mkdir(dataDir, { recursive: true });
  const env = { CALLBOARD_CONFIG: config };
  const server = startServer({ serverFile: build.serverFile, dataDir, port, token, env });
  if ((await server.ready) === undefined) throw new Error(`no server: ${server.log()}`);
  const board = `http://127.0.0.1:${port}`;
  const witness = createWitness();
  const api = createApi({ url: board, token }, witness);
  const browsers = new Set<RealBrowser>();
  let profiles = 0;

  const launch = async (profile = join(dir, `profile-${++profiles}`)): Promise<RealBrowser> => {
    const context = await chromium.launchPersistentContext(profile, {
      executablePath,
      args: ['--no-sandbox'],
    });
    const browser: RealBrowser = {
      profile,
      context,
      async kill() {
        browsers.delete(browser);
        const closed = new Promise((resolve) => context.once('close', resolve));
        for (const pid of mainProcessesOf(profile)) signal(pid, 'SIGKILL');
        await within('the browser ends', closed, 10_000);
      },
    };
    browsers.add(browser);
    return browser;
  };

  async function rest(): Promise<Record<string, number>> {
    // A tool that begins late must have been seen, and an acknowledgement may be on its way.
    await sleep(300);
    const seen = { api, witness, shown: new Map(), clients: () => factsOf(pages) };
    return figuresOf(await checkInvariants({ ...seen, effects: () => pages.effects() }, bad));
  }

  try {
    return await play({
      pages,
      api,
      bad,
      launch,
      pageUrl: (name, hold) => pages.pageUrl({ board, token, name, hold }),
      untilBegun: (id) =>
        within(
          'the tool begins',
          pages.until(({ point, call }) => point === 'effect' && call === id),
        ),
      rest,
    });
  } finally {
    await Promise.all([...browsers].map((browser) => browser.kill()));
    await Promise.all([server.end('SIGKILL'), pages.close()]);
  }
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
