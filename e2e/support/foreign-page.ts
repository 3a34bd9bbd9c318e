import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { Callboard, StartOptions } from '../start-callboard.ts';
import { startOutside } from './outside.ts';

export interface ForeignPage {
  readonly board: Callboard;
  readonly origin: string;
  /** From now on the page has the client's script, its attributes, and a script of its own behind it. */
  serve(of: Served): void;
  /** Opens it so. */
  open(page: Page, of: Served): Promise<void>;
}

interface Served {
  readonly script: string;
  readonly attributes?: string;
}

/** A third party's page on another port, whose origin the server lets in; with the operator's token. */
export async function serveForeignPage(
  startServer: (options?: StartOptions) => Promise<Callboard>,
): Promise<ForeignPage> {
  let html = '';
  const { url: origin } = await startOutside(() => html);
  const file = join(await mkdtemp(join(tmpdir(), 'callboard-page-')), 'config.json');
  await writeFile(file, JSON.stringify({ allowed_origins: [origin] }));
  const board = await startServer({ env: { CALLBOARD_CONFIG: file } });
  const serve = ({ script, attributes = '' }: Served) => {
    html = `<!doctype html><html lang="en"><title>A shop</title>
<script src="${board.url}/client.js" data-token="${board.token}" ${attributes}></script>
<body><script>${script}</script>`;
  };
  return {
    board,
    origin,
    serve,
    async open(page, of) {
      serve(of);
      await page.goto(origin);
    },
  };
}
