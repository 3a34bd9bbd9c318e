import type { ClientMessage, ClientMessageOf } from '../protocol/client-messages.ts';
import type { ServerMessage, ServerMessageOf } from '../protocol/server-messages.ts';
import type { RejectedTool } from '../protocol/tool-spec.ts';
import { errorMessage } from '../util/error-message.ts';
import { given } from '../util/given.ts';
import { createObservable, type Observable, type WritableObservable } from '../util/observable.ts';
import { CallRunner } from './call-runner.ts';
import type { ClientIdentity } from './client-identity.ts';
import { type ClientToolDefinition, toToolSpec } from './client-tool.ts';
import { type ClientStatus, type Connection, createConnection } from './connection.ts';
import type { UploadBlob } from './encode-answer.ts';
import type { InstanceId } from './instance-id.ts';
import { createMemoryJournal, type Journal } from './journal.ts';
import { createStatusThrottle, type StatusThrottle } from './status-throttle.ts';
import type { ClientEnvironment } from './transports.ts';

export type ClientState = Omit<
  ClientMessageOf<'client_state'>,
  'type' | 'touched' | 'touched_ago_ms'
>;

export interface ToolClientOptions {
  /** The address of `/ws/client`, with `ws:` or `wss:`. */
  readonly url: string;
  /** From another origin: `['callboard.v1', 'bearer.<token>']`. */
  readonly protocols?: readonly string[];
  readonly name: string;
  readonly kind: 'tab' | 'phone' | 'program';
  readonly tools?: readonly ClientToolDefinition[];
  readonly environment: ClientEnvironment;
  readonly identity: ClientIdentity;
  readonly instanceId: InstanceId;
  /** Opens the journal of an instance; made for each, as an instance may have to be given up. */
  openJournal(instanceId: string): Promise<Journal>;
  /** For large attachments. Without it all travel in the message. */
  readonly uploadBlob?: UploadBlob;
  /** Tells that the server refuses our credential; asked when a socket could not be opened. */
  readonly isRefused?: () => Promise<boolean>;
  /**
   * Tools that the server does not take, with the reason; without it they are problems. Those that
   * a person has decided on are in `decided`: it takes them now, unless they are rejected too.
   */
  onRejectedTools?(rejected: readonly RejectedTool[], decided: readonly string[]): void;
  /** A failure that no call of the caller reports; for a log. */
  onProblem?(message: string): void;
}

/** A person's touches are reported at most so often. */
const TOUCH_INTERVAL_MS = 1_000;

export type ToolClient = Pick<ConnectedClient, keyof ConnectedClient>;

export const createToolClient = (options: ToolClientOptions): ToolClient =>
  new ConnectedClient(options);

/**
 * A tab, phone or program that offers its tools to a Callboard server. It puts the parts together;
 * each is described in its own file. Rules: SPEC.md. What callers use are plain functions, which
 * they may pass on by themselves.
 */
class ConnectedClient {
  readonly #options: ToolClientOptions;
  readonly #tools: ToolRegistrations;
  readonly #touches: StatusThrottle;
  readonly #connection: Connection;
  readonly #status = createObservable<ClientStatus>({ state: 'stopped' });
  readonly #registered = createObservable(false);
  readonly #clientId: WritableObservable<string | null>;
  #instance: CallRunner | null = null;
  #state: ClientState | null = null;
  #touchedAt = 0;
  /** Between a welcome and the end of its connection. */
  #isWelcomed = false;
  #isStarted = false;
  /** Starting, stopping and being superseded exclude each other. */
  #lastStep: Promise<void> = Promise.resolve();

  readonly status: Observable<ClientStatus> = this.#status;
  /** True once the server has replied to all tools that this client offers, on this connection. */
  readonly registered: Observable<boolean> = this.#registered;
  /** Null until the server has assigned one. */
  readonly clientId: Observable<string | null>;

  constructor(options: ToolClientOptions) {
    this.#options = options;
    this.clientId = this.#clientId = createObservable(options.identity.clientId() ?? null);
    this.#tools = createToolRegistrations(options.tools ?? []);
    this.#touches = createStatusThrottle({
      send: () => this.#sendTouch(),
      environment: options.environment,
      intervalMs: TOUCH_INTERVAL_MS,
    });
    this.#connection = createConnection({
      url: options.url,
      protocols: options.protocols ?? [],
      environment: options.environment,
      isRefused: options.isRefused,
      onOpen: () => this.#sendHello(),
      onMessage: (message) => this.#receive(message),
      onDown: () => this.#disconnected(),
      onSuperseded: () => this.#inOrder(() => this.#supersede()),
      onStatus: this.#status.set,
      onProblem: this.#onProblem,
    });
  }

  get toolNames(): readonly string[] {
    return this.#tools.names;
  }

  /** This page's or program's; undefined before it has started. */
  get instanceId(): string | undefined {
    return this.#instance?.instanceId;
  }

  /** Resolves when the journal is open and the first attempt is under way. */
  readonly start = (): Promise<void> =>
    this.#inOrder(async () => {
      if (this.#isStarted) return;
      this.#isStarted = true;
      this.#status.set({ state: 'connecting' });
      this.#instance = await this.#openInstance(await this.#options.instanceId.take());
      this.#connection.start();
    });

  /** Aborts what runs, closes the socket and the journal. It can be started again. */
  readonly stop = (): Promise<void> =>
    this.#inOrder(async () => {
      if (!this.#isStarted) return;
      this.#isStarted = false;
      this.#connection.stop('the client stopped');
      await this.#closeInstance({ reason: 'the client stopped', discard: false });
      this.#options.instanceId.release();
    });

  /** Adds a tool, or replaces the one of that name. */
  readonly register = (tool: ClientToolDefinition): void => {
    this.#tools.add(tool);
    this.#publishTools();
  };

  readonly unregister = (name: string): void => {
    this.#tools.remove(name);
    this.#publishTools();
  };

  /** Offers these tools, and no others. */
  readonly offer = (tools: Iterable<ClientToolDefinition>): void => {
    this.#tools.replace(tools);
    this.#publishTools();
  };

  /** Sends the server the state of this client, on each connection again. */
  readonly reportState = (state: ClientState): void => {
    this.#state = state;
    this.#send({ type: 'client_state', ...state });
  };

  /** A person has just touched this client; a call is offered to it before those touched earlier. */
  readonly reportTouch = (): void => {
    this.#touchedAt = this.#options.environment.now();
    this.#touches.push({});
  };

  /** Makes a planned attempt to connect now. */
  readonly retryNow = (): void => this.#connection.retryNow();

  /** Its age is what the server can use: the clocks of the two differ. */
  #sendTouch(): boolean {
    const touched_ago_ms = Math.max(0, this.#options.environment.now() - this.#touchedAt);
    return this.#send({ type: 'client_state', touched: true, touched_ago_ms });
  }

  get #onProblem(): (message: string) => void {
    return this.#options.onProblem ?? (() => {});
  }

  /** False, and nothing sent, before the welcome: only a hello precedes it. */
  #send(message: ClientMessage): boolean {
    return this.#isWelcomed && this.#connection.send(message);
  }

  /** The first message of a connection says what this client is, and the calls that it has. */
  #sendHello(): void {
    const { name, kind, identity } = this.#options;
    const known = this.#instance?.known();
    // guard: resume-token-sent
    const hello = {
      type: 'hello' as const,
      ...given({
        client_id: identity.clientId(),
        resume_token: identity.resumeToken(this.instanceId),
        instance_id: this.instanceId,
        known: known?.calls,
        journal_epoch: known?.epoch,
      }),
      name,
      kind,
      caps: ['claim', 'cancel', 'probe'],
    };
    this.#connection.send(hello);
  }

  #receive(message: ServerMessage): void {
    switch (message.type) {
      case 'welcome':
        return this.#welcomed(message);
      case 'tools_registered':
        this.#reportRejected(message);
        // A decision of a person is no reply.
        if (message.decided) return;
        return this.#repliedToTools();
      case 'error':
        this.#onProblem(`the server reports ${message.code}: ${message.message}`);
        // An error of a call names its id. Any other may be the reply to tools that it cannot read.
        if (message.id === undefined) this.#repliedToTools();
        return this.#instance?.receive(message);
      default:
        return this.#instance?.receive(message);
    }
  }

  #welcomed(message: ServerMessageOf<'welcome'>): void {
    this.#saveIdentity(message);
    this.#isWelcomed = true;
    // Answers before tools: what is answered need not be offered again.
    this.#instance?.resume(message);
    this.#tools.forgetPublished();
    this.#publishTools();
    if (this.#state) this.#send({ type: 'client_state', ...this.#state });
    this.#touches.flush();
    this.#clientId.set(message.client_id);
    this.#connection.ready(message.heartbeat_ms);
    this.#registered.set(this.#tools.areReplied);
  }

  #repliedToTools(): void {
    this.#tools.replied();
    this.#registered.set(this.#isWelcomed && this.#tools.areReplied);
  }

  #reportRejected({ rejected, decided = [] }: ServerMessageOf<'tools_registered'>): void {
    const { onRejectedTools } = this.#options;
    if (rejected.length + decided.length === 0) return;
    if (onRejectedTools) return onRejectedTools(rejected, decided);
    for (const { name, message } of rejected) {
      this.#onProblem(`the server refused the tool ${JSON.stringify(name)}: ${message}`);
    }
  }

  #saveIdentity({ client_id, resume_token }: ServerMessageOf<'welcome'>): void {
    try {
      const instanceId = this.#instance?.instanceId;
      this.#options.identity.save({ clientId: client_id, resumeToken: resume_token, instanceId });
    } catch (error) {
      this.#onProblem(`this client will be a new one after a reload: ${errorMessage(error)}`);
    }
  }

  #publishTools(): void {
    if (!this.#isWelcomed) return;
    for (const message of this.#tools.takeChanges()) this.#send(message);
    if (!this.#tools.areReplied) this.#registered.set(false);
  }

  #disconnected(): void {
    this.#isWelcomed = false;
    this.#registered.set(false);
    this.#instance?.disconnected();
  }

  /** The journal belongs to the other page now: nothing may be written into it (CL15). */
  async #supersede(): Promise<void> {
    if (!this.#isStarted) return;
    await this.#closeInstance({ reason: 'another page took over', discard: true });
    this.#instance = await this.#openInstance(await this.#options.instanceId.renew());
  }

  /** Where the journal cannot be opened, one in memory takes its place, and that is reported. */
  async #openInstance(instanceId: string): Promise<CallRunner> {
    const { environment, uploadBlob } = this.#options;
    const journal = await this.#options.openJournal(instanceId).catch((error) => {
      this.#onProblem(`no journal, calls do not survive a restart: ${errorMessage(error)}`);
      return createMemoryJournal({ epoch: environment.newId() });
    });
    const parts = {
      instanceId,
      journal,
      environment,
      uploadBlob,
      findTool: this.#tools.find,
      send: (message: ClientMessage) => this.#send(message),
      onProblem: this.#onProblem,
    };
    return new CallRunner(parts, await journal.entries());
  }

  async #closeInstance(options: { reason: string; discard: boolean }): Promise<void> {
    const last = this.#instance;
    this.#instance = null;
    await last?.close(options);
  }

  #inOrder(act: () => Promise<void>): Promise<void> {
    this.#lastStep = this.#lastStep.then(act);
    return this.#lastStep;
  }
}

/** The tools that a client offers, and which of them were published to the server; its caller sends. */
function createToolRegistrations(initial: readonly ClientToolDefinition[]) {
  const tools = new Map(initial.map((tool) => [tool.name, tool]));
  /** Name to the JSON text that was published. */
  const published = new Map<string, string>();
  let unreplied = 0;

  return {
    /** Adds, or replaces by name. */
    add: (tool: ClientToolDefinition) => void tools.set(tool.name, tool),
    remove: (name: string) => void tools.delete(name),
    replace(all: Iterable<ClientToolDefinition>) {
      tools.clear();
      for (const tool of all) tools.set(tool.name, tool);
    },
    find: (name: string) => tools.get(name),
    get names(): readonly string[] {
      return [...tools.keys()];
    },
    /** The messages that publish what has changed since they were last taken; empty when nothing has. */
    takeChanges(): ClientMessage[] {
      const deleted = [...published.keys()].filter((name) => !tools.has(name));
      const specs = [...tools.values()].map(toToolSpec);
      const fresh = specs.filter((spec) => published.get(spec.name) !== JSON.stringify(spec));
      for (const name of deleted) published.delete(name);
      for (const spec of fresh) published.set(spec.name, JSON.stringify(spec));
      if (fresh.length > 0) unreplied += 1;
      return [
        ...(deleted.length === 0 ? [] : [{ type: 'unregister_tools' as const, names: deleted }]),
        ...(fresh.length === 0 ? [] : [{ type: 'register_tools' as const, tools: fresh }]),
      ];
    },
    /** The server has replied to one message that registers tools, whether it took them or not. */
    replied() {
      unreplied = Math.max(0, unreplied - 1);
    },
    /** True once it has replied to all of those that were taken (CL38). */
    get areReplied() {
      return unreplied === 0;
    },
    /** A new connection: nothing is published on it yet. */
    forgetPublished() {
      published.clear();
      unreplied = 0;
    },
  };
}

type ToolRegistrations = ReturnType<typeof createToolRegistrations>;
