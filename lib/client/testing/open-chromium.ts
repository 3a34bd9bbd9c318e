import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { build } from 'esbuild';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright';
import { afterAll } from 'vitest';
import { serveHttp } from '../../net/testing/serve-http.ts';

/** A real Chromium, and a page of ours served from loopback, which counts as secure. */
export interface ChromiumRig {
  readonly browser: Browser;
  readonly url: string;
  /** The same page under a name that does not make it a secure context. */
  readonly insecureUrl: string;
  open(options?: BrowserContextOptions, url?: string): Promise<Page>;
}

const FLAGS = [
  '--no-sandbox',
  '--auto-accept-this-tab-capture',
  '--use-fake-device-for-media-stream',
  '--host-resolver-rules=MAP insecure.test 127.0.0.1',
];

/** Bundles `entry`, serves it in a page with `body`, and starts Chromium for the tests of a file. */
export async function openChromium(entry: string, body = ''): Promise<ChromiumRig> {
  const bundle = await build({ entryPoints: [entry], bundle: true, format: 'esm', write: false });
  const script = bundle.outputFiles[0]?.text ?? '';
  const html = `<!doctype html><html lang="en"><title>Rig</title><body>${body}<script type="module" src="/page.js"></script>`;
  const { port, origin, close } = await serveHttp((request, response) => {
    const isScript = request.url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    response.end(isScript ? script : html);
  });
  const url = `${origin}/`;
  const browser = await chromium.launch({ executablePath: findChromium(), args: FLAGS });
  afterAll(async () => {
    await browser.close();
    await close();
  });
  return {
    browser,
    url,
    insecureUrl: `http://insecure.test:${port}/`,
    async open(options, at = url) {
      const page = await (await browser.newContext(options)).newPage();
      await page.goto(at);
      await page.waitForFunction('window.rig !== undefined');
      return page;
    },
  };
}

function findChromium(): string {
  const given = process.env.CALLBOARD_CHROMIUM;
  if (given) return given;
  const folders = (process.env.PATH ?? '').split(delimiter);
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find((path) => existsSync(path)) ?? chromium.executablePath();
}
