import { joinBodySchema, outcomeBodySchema } from '../../../protocol/device.ts';
import { createAskServer, type KeptToken } from '../let-in.ts';
import type { Page } from '../page-callboard.ts';

const workbench = { name: 'Board', fingerprint: [1, 2, 3, 4] };

/** A request that a page made, which the test answers. */
export interface PairingRequest {
  readonly path: string;
  readonly body: Record<string, unknown>;
  reply(state: string): void;
  fail(status: number, code: string, headers?: Record<string, string>): void;
  /** No answer that the page may read. */
  cut(): void;
}

/** What pages ask for at `/api/pairing`; its waits and touches are the test's. */
export function createScriptedPairing() {
  const requests: PairingRequest[] = [];
  const waits: number[] = [];
  const takers: ((request: PairingRequest) => void)[] = [];
  const touches = new Set<() => void>();
  let stored: string | null = null;
  let isOver = false;
  let count = 0;

  const put = (request: PairingRequest) => {
    count += 1;
    const take = takers.shift();
    if (take) take(request);
    else requests.push(request);
  };
  const fetch = (url: string, { body, signal }: RequestInit): Promise<Response> =>
    new Promise((resolve, reject) => {
      const path = new URL(url).pathname;
      const parsed: unknown = JSON.parse(String(body));
      // As the real server reads them: what it would refuse fails the test here.
      const schema = path.endsWith('/join') ? joinBodySchema : outcomeBodySchema;
      signal?.addEventListener('abort', () => reject(signal.reason));
      const answer = (status: number, value: object, headers = {}) =>
        resolve(new Response(JSON.stringify(value), { status, headers }));
      put({
        path,
        body: schema.parse(parsed),
        reply: (state) =>
          answer(200, path.endsWith('/join') ? { workbench, expires_at: 1 } : { workbench, state }),
        fail: (status, code, headers) =>
          answer(status, { error: { code, message: `refused as ${code}` } }, headers),
        cut: () => reject(new TypeError('Failed to fetch')),
      });
    });
  const kept: KeptToken = {
    get: () => stored,
    set(token) {
      stored = token;
    },
    remove() {
      stored = null;
    },
  };
  const page: Pick<Page, 'askServer' | 'keptToken' | 'loaded' | 'wait' | 'touched'> = {
    askServer: (server) => createAskServer(fetch, server),
    keptToken: () => kept,
    loaded: async () => {},
    wait: (ms) => {
      waits.push(ms);
      // What still asks when the test is over does so no more.
      return isOver ? new Promise(() => {}) : Promise.resolve();
    },
    touched: (signal) =>
      new Promise((done) => {
        touches.add(done);
        signal.addEventListener('abort', () => done());
      }),
  };
  return {
    page,
    kept,
    waits,
    get count() {
      return count;
    },
    /** The next request. */
    next: async (path: 'join' | 'outcome'): Promise<PairingRequest> => {
      const request =
        requests.shift() ?? (await new Promise<PairingRequest>((take) => takers.push(take)));
      if (request.path !== `/api/pairing/${path}`) throw new Error(`it asked ${request.path}`);
      return request;
    },
    touch() {
      for (const done of touches) done();
      touches.clear();
    },
    get isTouchAwaited() {
      return touches.size > 0;
    },
    end() {
      isOver = true;
    },
  };
}
