import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from '@playwright/test';
import { test as base } from '../contract/kit/contract-test.ts';
import type { Callboard } from '../start-callboard.ts';
import { openLines } from '../torture/world/network-world.ts';
import type { ToxicProxy } from '../torture/world/toxic-proxy.ts';
import { bundleToolPage, type PageServer, startPageServer } from './page-server.ts';

/** A server that somebody's own pages may be clients of, and those pages. */
export interface ToolPages {
  readonly board: Callboard;
  readonly pages: PageServer;
  /** A line to the server of this test's own. The page's address has no line in it. */
  openLine(): Promise<ToxicProxy>;
  /** Opens a page with tools; resolves once they are registered. */
  open(context: BrowserContext, name: string, over?: ToxicProxy): Promise<Page>;
}

/** So many lines a server knows of before it starts. */
const LINES = 3;

export const test = base.extend<{ toolPages: ToolPages }>({
  toolPages: async ({ startServer }, use) => {
    const dir = await mkdtemp(join(tmpdir(), 'callboard-config-'));
    const pages = await startPageServer(await bundleToolPage());
    let port = 0;
    const origins = { allowed_origins: [pages.origin] };
    const { lines, env, close } = await openLines(LINES, () => port, dir, origins);
    const board = await startServer({ env });
    port = Number(new URL(board.url).port);
    const free = [...lines];
    await use({
      board,
      pages,
      async openLine() {
        const line = free.pop();
        if (!line) throw new Error(`A test has ${LINES} lines to its server`);
        return line;
      },
      async open(context, name, line) {
        const page = await context.newPage();
        const url = line ? lineUrl(line) : board.url;
        await page.goto(pages.pageUrl({ board: url, token: board.token, name }));
        await pages.until((told) => told.point === 'ready' && told.name === name);
        return page;
      },
    });
    await Promise.all([pages.close(), close()]);
    await rm(dir, { recursive: true, force: true });
  },
});

/** The server's address over a line. */
const lineUrl = (line: ToxicProxy): string => `http://127.0.0.1:${line.port}`;

export { expect } from '../contract/kit/contract-test.ts';
