import type { IncomingMessage } from 'node:http';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { serveHttp } from '#lib/net/testing/serve-http';

const ROOT = resolve(import.meta.dirname, '../..');

/** A word from a page, sent before the page goes on. */
export interface Told {
  readonly point:
    | 'hello'
    | 'welcome'
    | 'ready' // its tools are registered
    | 'requested'
    | 'claiming' // before the claim is sent
    | 'granted'
    | 'effect' // the tool with effects does its work; `read` the other
    | 'read'
    | 'answering' // before the answer is sent
    | 'acknowledged'
    | 'rejected'
    | 'problem'
    | 'restored'; // back from the back/forward cache
  /** The name of the page, from its address. */
  readonly name: string;
  /** From one load of the page to the next. */
  readonly life: string;
  readonly call?: string;
  readonly instance?: string;
  readonly client?: string;
  readonly disposition?: string;
  /** The output, or `{error}`. */
  readonly answer?: unknown;
  readonly problem?: string;
}

export interface PageOptions {
  /** The address of a Callboard server: `http://127.0.0.1:3000`. */
  readonly board: string;
  readonly token: string;
  readonly name: string;
  /** The claims, and then the grants, of so many calls are kept back until all are there. */
  readonly hold?: number | undefined;
}

/** Serves `tool-page.ts`, and keeps what its pages tell. */
export interface PageServer {
  /** To be among the `allowed_origins` of the Callboard server. */
  readonly origin: string;
  readonly told: readonly Told[];
  pageUrl(options: PageOptions): string;
  /** A page stands still at a word for as long as this takes. */
  onPublished: (told: Told) => Promise<void> | void;
  /** The next word that fits, or one that was told already. */
  until(fits: (told: Told) => boolean): Promise<Told>;
  /** How often each call was run by a tool with effects. */
  effects(): Map<string, number>;
  close(): Promise<void>;
}

/** The page's script, from the sources as they are. */
export async function bundleToolPage(): Promise<string> {
  const entry = join(ROOT, 'e2e/support/tool-page.ts');
  const options = { bundle: true, format: 'esm', write: false, absWorkingDir: ROOT } as const;
  const { outputFiles } = await build({ entryPoints: [entry], ...options });
  return outputFiles[0]?.text ?? '';
}

export async function startPageServer(script: string): Promise<PageServer> {
  const told: Told[] = [];
  const waiting = new Set<(one: Told) => void>();
  const { origin, close } = await serveHttp(async (request, response) => {
    if (request.method === 'POST') {
      const one: Told = JSON.parse(await readAll(request));
      told.push(one);
      for (const tell of waiting) tell(one);
      await pages.onPublished(one);
      response.end();
      return;
    }
    const isScript = request.url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    response.end(isScript ? script : HTML);
  });

  const pages: PageServer = {
    origin,
    told,
    pageUrl({ board, token, name, hold = 0 }) {
      const socket = `${board.replace('http', 'ws')}/ws/client`;
      return `${origin}/?${new URLSearchParams({ socket, token, name, hold: String(hold) })}`;
    },
    onPublished: () => {},
    until(fits) {
      const before = told.find(fits);
      if (before) return Promise.resolve(before);
      return new Promise((found) => {
        const look = (one: Told) => {
          if (!fits(one)) return;
          waiting.delete(look);
          found(one);
        };
        waiting.add(look);
      });
    },
    effects() {
      const counts = new Map<string, number>();
      for (const { point, call } of told) {
        if (point === 'effect' && call) counts.set(call, (counts.get(call) ?? 0) + 1);
      }
      return counts;
    },
    close,
  };
  return pages;
}

const HTML =
  '<!doctype html><html lang="en"><title>Tools</title><body><script type="module" src="/page.js"></script>';

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
