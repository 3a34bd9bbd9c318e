import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chromium } from '@playwright/test';
import { makeCa, makeServerPair } from '../server/tls/make-certificates.ts';
import { get } from './contract/kit/ask.ts';
import { expect, test } from './contract/kit/contract-test.ts';
import { headlessShell } from './support/browsers.ts';
import { freePort } from './support/free-port.ts';
import { untilReady } from './support/workbench.ts';

interface Proxy {
  readonly name: string;
  /** Its block of the page, for another port, with the certificate in `dir`. */
  configure(page: string, at: Places): string;
  command(dir: string): readonly [string, ...string[]];
}

interface Places {
  readonly dir: string;
  readonly port: number;
  readonly board: string;
}

const block = (page: string, start: string): string => {
  const found = page.split(/^```\w*\n/m).find((part) => part.startsWith(start));
  if (found === undefined) throw new Error(`docs/https.md has no block that begins with ${start}`);
  return found;
};

const NGINX: Proxy = {
  name: 'nginx',
  configure(page, { dir, port, board }) {
    const server = block(page, 'server {')
      .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
      .replaceAll('/etc/ssl', dir)
      .replace('http://127.0.0.1:3000', board);
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const temp = paths.map((one) => `${one}_temp_path ${dir}/${one};`).join(' ');
    return `daemon off; pid ${dir}/pid; error_log stderr; worker_processes 1; events {}
      http { access_log off; ${temp}\n${server} }`;
  },
  command: (dir) => ['nginx', '-p', dir, '-e', 'stderr', '-c', join(dir, 'config')],
};

const CADDY: Proxy = {
  name: 'caddy',
  configure(page, { dir, port, board }) {
    const site = block(page, 'board.example {')
      .replace(
        'board.example {',
        `board.example:${port} {\n  bind 127.0.0.1\n  tls board.crt board.key`,
      )
      .replace('127.0.0.1:3000', new URL(board).host);
    return `{\n  admin off\n  auto_https disable_redirects\n  storage file_system ${dir}\n}\n${site}`;
  },
  command: (dir) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', join(dir, 'config')],
};

for (const { name, configure, command } of [NGINX, CADDY]) {
  test(`the workbench is used through ${name} as its block of the page configures it, at a port other than 443`, async ({
    startServer,
  }) => {
    test.skip(spawnSync(name, ['-h']).error !== undefined, `${name} is not installed`);
    const port = await freePort();
    const origin = `https://board.example:${port}`;
    const env = { CALLBOARD_PUBLIC_URL: origin, CALLBOARD_TRUSTED_PROXIES: '127.0.0.1' };
    const own = await startServer({ env });
    const dir = await mkdtemp(join(tmpdir(), 'callboard-proxy-'));
    const names = { names: ['board.example'], addresses: [] };
    const pair = await makeServerPair(await makeCa('proxy', Date.now()), names, Date.now());
    await writeFile(join(dir, 'board.crt'), pair.cert);
    await writeFile(join(dir, 'board.key'), pair.key);
    const page = await readFile(resolve(import.meta.dirname, '../docs/https.md'), 'utf8');
    await writeFile(join(dir, 'config'), configure(page, { dir, port, board: own.url }));
    const [program, ...args] = command(dir);
    const quiet = {
      cwd: dir,
      stdio: 'ignore',
      env: { ...process.env, XDG_CONFIG_HOME: dir },
    } as const;
    const proxy = spawn(program, args, quiet);
    const rules = `--host-resolver-rules=MAP board.example 127.0.0.1`;
    const launch = { ...headlessShell, args: [...(headlessShell.args ?? []), rules] };
    const browser = await chromium.launch(launch);
    try {
      const context = await browser.newContext({ ignoreHTTPSErrors: true });
      const tab = await context.newPage();
      const link = `${origin}${new URL(own.signInUrl).pathname}`;
      await expect
        .poll(() =>
          tab.goto(link).then(
            () => true,
            () => false,
          ),
        )
        .toBe(true);
      await tab.waitForURL(`${origin}/`);
      await untilReady(tab);
      const cookies = await context.cookies();
      expect(cookies.map((one) => one.name.startsWith('__Host-') && one.secure)).toContain(true);
      const entries = await get(own, '/v1/audit?act=signed_in');
      expect(entries.body).toMatchObject({ entries: [{ address: '127.0.0.1' }] });
    } finally {
      await browser.close();
      if (proxy.kill()) await once(proxy, 'exit');
      await rm(dir, { recursive: true, force: true });
    }
  });
}
