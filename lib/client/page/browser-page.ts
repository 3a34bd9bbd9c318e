import { schedule } from '../../util/schedule.ts';
import { createBrowserParts, keptText, listenToTouches } from '../browser-environment.ts';
import { createToolClient, type ToolClient } from '../tool-client.ts';
import { importTools } from '../web-mcp/import-tools.ts';
import { readModelContext } from '../web-mcp/model-context.ts';
import { createBadge } from './badge.ts';
import { createAskServer } from './let-in.ts';
import { type Callboard, createCallboard, type Page } from './page-callboard.ts';

/** Shared by all copies of the library in a page: two of them would be two clients. */
const KEY = Symbol.for('callboard.page');

/** The one client of this page. Nothing of the page is touched before it is used. */
export function pageCallboard(): Callboard {
  const known: Callboard | undefined = Reflect.get(globalThis, KEY);
  if (known) return known;
  const callboard = createCallboard(browserPage);
  Reflect.set(globalThis, KEY, callboard);
  return callboard;
}

const warn = (problem: string) => console.warn(`callboard: ${problem}`);

function browserPage(): Page {
  return {
    createClient: (options) =>
      createToolClient({
        ...createBrowserParts({ onProblem: warn, scope: options.url }),
        ...options,
        kind: 'tab',
      }),
    watch: watchPage,
    createBadge: () => createBadge(document),
    importWebMcp: (offer) => {
      const context = readModelContext(document);
      return context && importTools({ context, offer, host: location.host, schedule, warn });
    },
    title: document.title,
    origin: location.origin,
    async isReachable(server) {
      try {
        // The one file of the server that pages of other origins may load. Its content is not read.
        await fetch(`${server}/client.js`, { mode: 'no-cors', credentials: 'omit' });
        return true;
      } catch {
        return false;
      }
    },
    // A method of the window, which works on nothing else.
    askServer: (server) => createAskServer((url, init) => fetch(url, init), server),
    keptToken: (server) => keptText(`callboard:device@${server}`),
    loaded,
    wait: (ms, signal) => untilAborted(signal, (done) => schedule(ms, done)),
    touched: (signal) => untilAborted(signal, listenToTouches),
    info: (text) => console.info(`callboard: ${text}`),
    warn,
  };
}

function loaded(): Promise<void> {
  return new Promise((done) => {
    if (document.readyState === 'complete') return done();
    // Scripts that wait for the document have run by then.
    addEventListener('DOMContentLoaded', () => done());
    // It may have come before.
    addEventListener('load', () => done());
  });
}

/** The server asks the visible one of several pages with a tool that a person touched last (PG14). */
function watchPage({ reportState, reportTouch }: ToolClient): () => void {
  const ended = new AbortController();
  const report = () =>
    reportState({ visibility: document.visibilityState, secure_context: isSecureContext });
  document.addEventListener('visibilitychange', report, { signal: ended.signal });
  report();
  const endTouches = listenToTouches(reportTouch);
  return () => {
    ended.abort();
    endTouches();
  };
}

/**
 * Resolves when `begin` calls back, and when the wait is given up: who waits looks at the signal.
 * What `begin` returns ends what it began, in both cases; nothing is left at the signal.
 */
export function untilAborted(
  signal: AbortSignal,
  begin: (done: () => void) => () => void,
): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      end();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const end = begin(done);
    signal.addEventListener('abort', done);
  });
}
