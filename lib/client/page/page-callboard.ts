import { CLOSE } from '../../protocol/close-codes.ts';
import { tokenProblem } from '../../protocol/operator-token.ts';
import { DEVICE_NAME_CHARS } from '../../protocol/pairing-code.ts';
import { PROTOCOL, toCredentialProtocol } from '../../protocol/subprotocols.ts';
import { errorMessage } from '../../util/error-message.ts';
import { createObservable, type Observable } from '../../util/observable.ts';
import { type ClientToolDefinition, toToolSpec } from '../client-tool.ts';
import { insecureTransport } from '../insecure-transport.ts';
import type { ToolClient, ToolClientOptions } from '../tool-client.ts';
import { type Badge, NO_BADGE } from './badge.ts';
import { type AskServer, type KeptToken, type LetInOptions, letIn } from './let-in.ts';
import { type PageTool, readPageTool, stoppable } from './page-tool.ts';
import { parseUrl } from './parse-url.ts';

/** Where a page connects, and as whom. What is not given stays as it was the last time. */
export interface ConnectOptions {
  /** Origin of the Callboard server: `https://board.example`. */
  readonly server?: string;
  /** People see the page under this name; its title by default. */
  readonly name?: string;
  /**
   * An operator's; every script of the page can read it, and may do with it what it allows. Without
   * one the page asks the operator to let it in, as a device with a token of its own.
   */
  readonly token?: string | undefined;
  /** False: the page shows by itself what runs. */
  readonly badge?: boolean;
  /** True: what the page offers to the agent of its browser (WebMCP) is offered as well. */
  readonly webMcp?: boolean;
}

/**
 * `off` until `connect`; `asking` while a person decides whether the page is let in; `registered`
 * once the server has replied to all tools; `refused` when the server, or a person there, has
 * refused the page or closed the connection for good.
 */
export type PageStatus =
  | 'off'
  | 'connecting'
  | 'asking'
  | 'registered'
  | 'reconnecting'
  | 'refused';

/** A page as a client of a Callboard server. */
export interface Callboard {
  /**
   * Offers a tool, from now on or from the connection on. Returns the function that takes it back.
   * Throws a TypeError that says what is wrong with it.
   */
  tool<Args extends object = Record<string, unknown>>(tool: PageTool<Args>): () => void;
  connect(options?: ConnectOptions): void;
  /** Ends what runs, and the connection. Tools stay, for the next one. */
  disconnect(): Promise<void>;
  readonly status: Observable<PageStatus>;
}

/** The page itself, as far as it is used here. */
export interface Page {
  createClient(
    options: Pick<
      ToolClientOptions,
      'url' | 'protocols' | 'name' | 'tools' | 'isRefused' | 'onRejectedTools' | 'onProblem'
    >,
  ): ToolClient;
  /** Reports to the client whether the page is seen and touched, until the returned function is called. */
  watch(client: ToolClient): () => void;
  createBadge(): Badge;
  /** Offers the page's WebMCP tools, until the returned function is called; undefined where the browser has none. */
  importWebMcp(offer: Callboard['tool']): (() => void) | undefined;
  readonly title: string;
  readonly origin: string;
  /** Tells that anything responds at the server's address. */
  isReachable(server: string): Promise<boolean>;
  askServer(server: string): AskServer;
  /** The token of all pages of the origin, for that server. */
  keptToken(server: string): KeptToken;
  /** The scripts that came with the page have run. */
  loaded(): Promise<void>;
  readonly wait: LetInOptions['wait'];
  readonly touched: LetInOptions['touched'];
  info(text: string): void;
  warn(problem: string): void;
}

export const createCallboard = (page: () => Page): Callboard => new PageCallboard(page);

/** A client's name may be so long. */
const NAME_CHARS = 128;
/** A page may ask for so many tools at once; further ones are asked about afterwards. */
const MOST_TOOLS = 128;
/** A person's decision about a tool of a page is no mistake of the page. */
const UNDECIDED = /^(?:waiting_for_approval|not_allowed)$/;

/** Pages pass its functions on by themselves. */
class PageCallboard implements Callboard {
  readonly status = createObservable<PageStatus>('off');
  readonly #page: () => Page;
  readonly #tools = new Map<string, ClientToolDefinition>();
  #isPlanned = false;
  #options: ConnectOptions = {};
  #client: ToolClient | undefined;
  #asking: AbortController | undefined;
  /** True once this page has asked a person since it was loaded or touched. */
  readonly #asked = { has: false };
  #badge: Badge = NO_BADGE;
  #shownBadge: Badge | undefined;
  #endWatch = () => {};
  #endImport: (() => void) | undefined;
  /** One connection ends before the next begins: both would use the same journal. */
  #lastStep: Promise<void> = Promise.resolve();

  constructor(page: () => Page) {
    this.#page = page;
  }

  readonly tool = (given: unknown): (() => void) => {
    const { spec, execute } = readPageTool(given);
    const { name } = spec;
    if (this.#tools.has(name)) {
      throw new TypeError(
        `This page offers a tool ${name} already; call the function that tool() returned for it first.`,
      );
    }
    const run = stoppable(spec, execute, (call) =>
      this.#badge.show({ ...call, server: hostOf(this.#options.server) }),
    );
    const definition: ClientToolDefinition = { ...spec, run };
    this.#tools.set(name, definition);
    this.#planPublish();
    return () => {
      // A later tool of that name is not this one's to take back.
      if (this.#tools.get(name) !== definition) return;
      this.#tools.delete(name);
      this.#planPublish();
    };
  };

  readonly connect = (given: ConnectOptions = {}): void => {
    this.#options = { ...this.#options, ...given };
    const page = this.#page();
    const address = readServer(this.#options.server);
    const problem = address.ok
      ? (tokenError(this.#options.token) ?? transportError(address.origin, page.origin))
      : address.problem;
    if (!address.ok || problem !== undefined) {
      return page.warn(`${problem} Nothing is connected.`);
    }
    this.#shownBadge ??= page.createBadge();
    this.#badge = this.#options.badge === false ? NO_BADGE : this.#shownBadge;
    this.#import(page);
    this.#asking?.abort();
    const { token } = this.#options;
    if (token !== undefined) return this.#open(page, address.origin, { token, isOwn: false });
    this.#leave(page);
    this.status.set('connecting');
    this.#ask(page, address.origin);
  };

  #open(page: Page, server: string, credential: Credential): void {
    this.#leave(page);
    const client = this.#createClient(page, server, credential);
    this.#client = client;
    client.offer(this.#tools.values());
    this.#endWatch = page.watch(client);
    this.#inOrder(async () => {
      if (this.#client === client) await client.start();
    }, page);
  }

  /** Connects as a device, with the token that the page has, or one that a person lets in. */
  #ask(page: Page, server: string, token?: string): void {
    const asking = new AbortController();
    const { signal } = asking;
    this.#asking = asking;
    const explain = once(page.warn);
    letIn({
      askServer: page.askServer(server),
      kept: page.keptToken(server),
      token,
      signal,
      asked: this.#asked,
      wait: page.wait,
      touched: page.touched,
      warn: page.warn,
      request: async () => {
        await page.loaded();
        const tools = [...this.#tools.values()].slice(0, MOST_TOOLS).map(toToolSpec);
        return { name: this.#name(page, DEVICE_NAME_CHARS), tools };
      },
      onStatus: (status) => signal.aborted || this.status.set(status),
      onUnreachable: async () =>
        explain((await page.isReachable(server)) ? refusal(server, NEEDS_TOKEN) : away(server)),
    })
      .then((own) => {
        if (own !== undefined && !signal.aborted)
          this.#open(page, server, { token: own, isOwn: true });
      })
      .catch((error) => {
        if (signal.aborted) return;
        this.status.set('refused');
        page.warn(`the connection failed: ${errorMessage(error)}`);
      });
  }

  #name({ title, origin }: Page, chars: number): string {
    return (this.#options.name?.trim() || title || origin).slice(0, chars);
  }

  /** Off until it is asked for. */
  #import(page: Page): void {
    if (!this.#options.webMcp) {
      this.#endImport?.();
      this.#endImport = undefined;
    } else if (!this.#endImport) {
      this.#endImport = page.importWebMcp((tool) => this.tool(tool));
      if (!this.#endImport) page.warn('this browser has no WebMCP.');
    }
  }

  readonly disconnect = (): Promise<void> => {
    this.#asking?.abort();
    this.#leave(this.#page());
    this.status.set('off');
    return this.#lastStep;
  };

  #leave(page: Page): void {
    const client = this.#client;
    this.#client = undefined;
    this.#endWatch();
    if (client) this.#inOrder(() => client.stop(), page);
  }

  #createClient(page: Page, server: string, { token, isOwn }: Credential): ToolClient {
    const explain = once(page.warn);
    const inform = once(page.info);
    const client = page.createClient({
      url: `${server.replace(/^http/, 'ws')}/ws/client`,
      protocols: [PROTOCOL, toCredentialProtocol('bearer', token)],
      name: this.#name(page, NAME_CHARS),
      async isRefused() {
        const { state } = isOwn ? await page.askServer(server)('outcome', { token }) : {};
        if (state) return state !== 'approved';
        // A browser does not give the reason: a refusal may be that of a server that is starting.
        explain(
          (await page.isReachable(server))
            ? refusal(server, notAllowed(page.origin))
            : away(server),
        );
        return false;
      },
      onRejectedTools: (rejected) => {
        const waiting = rejected.filter(({ code }) => UNDECIDED.test(code));
        if (waiting.length > 0) {
          const names = waiting.map(({ name }) => name).join(', ');
          inform(`a person has to allow ${names}.`);
        }
        for (const one of rejected) {
          if (waiting.includes(one)) continue;
          const { name, message } = one;
          page.warn(`the server does not take the tool ${JSON.stringify(name)}: ${message}`);
        }
      },
      onProblem: page.warn,
    });
    const show = () => {
      if (this.#client !== client) return;
      const status = client.status.get();
      this.status.set(statusOf(client));
      if (status.state === 'connected') explain.again();
      // A page that a person took off stays away; it does not ask whether it may come back.
      if (isOwn && status.state === 'refused' && status.code === CLOSE.unauthenticated) {
        this.#leave(page);
        this.#ask(page, server, token);
      }
    };
    client.status.subscribe(show);
    client.registered.subscribe(show);
    return client;
  }

  /** A tool that is taken back and offered anew within one task is one change, or none (PG4). */
  #planPublish(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    queueMicrotask(() => {
      this.#isPlanned = false;
      this.#client?.offer(this.#tools.values());
    });
  }

  #inOrder(act: () => Promise<void>, page: Page): void {
    this.#lastStep = this.#lastStep
      .then(act)
      .catch((error) => page.warn(`the connection failed: ${errorMessage(error)}`));
  }
}

interface Credential {
  readonly token: string;
  /** It is the page's own, as a device. */
  readonly isOwn: boolean;
}

function statusOf({ status, registered }: ToolClient): PageStatus {
  const { state } = status.get();
  if (state === 'stopped') return 'off';
  if (state === 'connected') return registered.get() ? 'registered' : 'connecting';
  return state;
}

function readServer(server = '') {
  const url = parseUrl(server);
  if (url && /^https?:$/.test(url.protocol)) return { ok: true, origin: url.origin } as const;
  const given = JSON.stringify(server.slice(0, 200));
  const problem = `The server is ${given}; it must be the address of a Callboard server, such as "https://board.example".`;
  return { ok: false, problem } as const;
}

function tokenError(token: string | undefined): string | undefined {
  const problem = token !== undefined && tokenProblem(token);
  return problem ? `The token is none of this server's: ${problem}.` : undefined;
}

/** A browser would only report that its own rules forbid it. */
function transportError(server: string, page: string): string | undefined {
  return page.startsWith('https:') ? insecureTransport(server, 'https page', false) : undefined;
}

const refusal = (server: string, why: string): string =>
  `${server} responds, and refuses this page. ${why} The page goes on trying.`;

const notAllowed = (origin: string): string =>
  `Either ${origin} is not among allowed_origins in its configuration, or the token is not valid any more.`;

/** `allowed_origins` or `pairing.pages` of its configuration may say so. */
const NEEDS_TOKEN = 'It needs a token.';

const away = (server: string): string => `${server} does not respond. The page goes on trying.`;

const hostOf = (server: string | undefined): string => parseUrl(server ?? '')?.host ?? '';

/** Reports a text once, until `again`: attempts to connect may be many. */
function once(report: (text: string) => void) {
  const reported = new Set<string>();
  const explain = (text: string) => {
    if (reported.has(text)) return;
    reported.add(text);
    report(text);
  };
  explain.again = () => reported.clear();
  return explain;
}
