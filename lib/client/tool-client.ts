import type { ClientMessage, ClientMessageOf } from '../protocol/client-messages.ts';
import type { ServerMessage, ServerMessageOf } from '../protocol/server-messages.ts';
import type { RejectedTool } from '../protocol/tool-spec.ts';
import { errorMessage } from '../util/error-message.ts';
import { createObservable, type Observable } from '../util/observable.ts';
import { type CallRunner, createCallRunner } from './call-runner.ts';
import type { ClientIdentity } from './client-identity.ts';
import type { ClientStatus } from './client-status.ts';
import type { ClientToolDefinition } from './client-tool.ts';
import { createConnection } from './connection.ts';
import type { ClientEnvironment } from './environment.ts';
import type { InstanceId } from './instance-id.ts';
import type { Journal } from './journal.ts';
import { createMemoryJournal } from './memory-journal.ts';
import { createStatusThrottle } from './status-throttle.ts';
import { createToolRegistrations } from './tool-registrations.ts';
import type { UploadBlob } from './upload-blob.ts';

export type ClientState = Omit<ClientMessageOf<'client_state'>, 'type' | 'touched'>;

export interface ToolClientOptions {
  /** Of `/ws/client`, with `ws:` or `wss:`. */
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
  /** Whether the server refuses our credential; asked when a socket could not be opened. */
  readonly isRefused?: () => Promise<boolean>;
  /** Tools that the server does not take, with the reason. */
  onRejectedTools?(rejected: readonly RejectedTool[]): void;
  /** What went wrong without anybody having asked; for a log. */
  onProblem?(message: string): void;
}

/** A tab, phone or program that offers its tools to a Callboard server. */
export interface ToolClient {
  /** Resolves when the journal is open and the first attempt is under way. */
  start(): Promise<void>;
  /** Aborts what runs, closes the socket and the journal. It can be started again. */
  stop(): Promise<void>;
  /** Adds a tool, or replaces the one of that name. */
  register(tool: ClientToolDefinition): void;
  unregister(name: string): void;
  /** Tells the server how this client is; told again on each connection. */
  reportState(state: ClientState): void;
  /** A person has just touched this client; of several, it is asked before those touched earlier. */
  reportTouch(): void;
  readonly status: Observable<ClientStatus>;
  /** Null until the server has given one. */
  readonly clientId: Observable<string | null>;
  readonly toolNames: readonly string[];
}

/** A person's touches are reported at most so often. */
const TOUCH_INTERVAL_MS = 1_000;
/** How long a stop waits for tools that do not heed their signal. */
const STOP_WAIT_MS = 2_000;

/** One page's or program's place in the life of a client: an instance with its journal and calls. */
interface Instance {
  readonly id: string;
  readonly journal: Journal;
  readonly runner: CallRunner;
}

/** Puts the parts together; each is described in its own file. Rules: SPEC.md. */
export function createToolClient(options: ToolClientOptions): ToolClient {
  const { environment, identity, onProblem = () => {} } = options;
  const status = createObservable<ClientStatus>({ state: 'stopped' });
  const clientId = createObservable<string | null>(identity.clientId() ?? null);
  const tools = createToolRegistrations(options.tools ?? []);
  let instance: Instance | null = null;
  let state: ClientState | null = null;
  let connected = false;
  let wanted = false;
  /** Starting, stopping and being superseded take their turns. */
  let lastTurn: Promise<void> = Promise.resolve();
  const inTurn = (act: () => Promise<void>): Promise<void> => {
    lastTurn = lastTurn.then(act);
    return lastTurn;
  };

  const send = (message: ClientMessage): boolean => connection.send(message);
  const touches = createStatusThrottle({
    send: () => connected && send({ type: 'client_state', touched: true }),
    environment,
    intervalMs: TOUCH_INTERVAL_MS,
  });

  async function openInstance(id: string): Promise<Instance> {
    const journal = await options.openJournal(id).catch((error) => {
      onProblem(`no journal, calls do not survive a restart: ${errorMessage(error)}`);
      return createMemoryJournal({ epoch: environment.newId() });
    });
    const runner = createCallRunner({
      journal,
      remembered: await journal.entries(),
      environment,
      findTool: tools.find,
      send: (message) => connected && send(message),
      uploadBlob: options.uploadBlob,
      onProblem,
    });
    return { id, journal, runner };
  }

  function hello() {
    const [known, token] = [identity.clientId(), identity.resumeToken(instance?.id)];
    const journaled = instance?.runner.known();
    send({
      type: 'hello',
      ...(known === undefined ? {} : { client_id: known }),
      ...(token === undefined ? {} : { resume_token: token }),
      ...(instance && journaled && { instance_id: instance.id, known: journaled.calls }),
      // By the epoch a call that is not known counts as never started. Where not all could be told
      // that would not be true, and without it the server takes nothing for granted (CL34).
      ...(instance && journaled?.isAll && { journal_epoch: instance.journal.epoch }),
      name: options.name,
      kind: options.kind,
      caps: ['claim', 'cancel', 'probe'],
    });
  }

  function welcome(message: ServerMessageOf<'welcome'>) {
    remember(message);
    connected = true;
    // Answers before tools: what is answered need not be offered again.
    instance?.runner.resume(message);
    tools.forgetTold();
    tellTools();
    if (state) send({ type: 'client_state', ...state });
    touches.flush();
    clientId.set(message.client_id);
    connection.ready(message.heartbeat_ms);
  }

  function remember({ client_id, resume_token }: ServerMessageOf<'welcome'>) {
    try {
      const instanceId = instance?.id;
      identity.save({ clientId: client_id, resumeToken: resume_token, instanceId });
    } catch (error) {
      onProblem(`this client will be a new one after a reload: ${errorMessage(error)}`);
    }
  }

  function tellTools() {
    if (connected) for (const message of tools.changes()) send(message);
  }

  function receive(message: ServerMessage) {
    if (message.type === 'welcome') welcome(message);
    else if (message.type === 'tools_registered') {
      if (message.rejected.length > 0) options.onRejectedTools?.(message.rejected);
    } else if (message.type === 'error') {
      onProblem(`the server says ${message.code}: ${message.message}`);
      instance?.runner.receive(message);
    } else instance?.runner.receive(message);
  }

  /** The journal is the other page's now: nothing of ours may be written into it (CL15). */
  async function supersede() {
    if (!wanted) return;
    const old = instance;
    instance = null;
    const ended = old?.runner.close({ reason: 'another page took over', discard: true });
    old?.journal.close();
    await soon(ended);
    instance = await openInstance(await options.instanceId.renew());
  }

  async function start() {
    if (wanted) return;
    wanted = true;
    status.set({ state: 'connecting' });
    instance = await openInstance(await options.instanceId.take());
    connection.start();
  }

  async function stop() {
    if (!wanted) return;
    wanted = false;
    connection.stop('the client stopped');
    const last = instance;
    instance = null;
    await soon(last?.runner.close({ reason: 'the client stopped', discard: false }));
    last?.journal.close();
    options.instanceId.release();
  }

  const soon = (ended: Promise<void> | undefined): Promise<unknown> =>
    Promise.race([
      ended,
      new Promise<void>((resolve) => environment.schedule(STOP_WAIT_MS, resolve)),
    ]);

  const connection = createConnection({
    url: options.url,
    protocols: options.protocols ?? [],
    environment,
    isRefused: options.isRefused,
    onOpen: hello,
    onMessage: receive,
    onDown() {
      connected = false;
      instance?.runner.disconnected();
    },
    onSuperseded: () => inTurn(supersede),
    onStatus: status.set,
    onProblem,
  });

  return {
    status,
    clientId,
    get toolNames() {
      return tools.names;
    },
    start: () => inTurn(start),
    stop: () => inTurn(stop),
    register(tool) {
      tools.add(tool);
      tellTools();
    },
    unregister(name) {
      tools.remove(name);
      tellTools();
    },
    reportState(next) {
      state = next;
      if (connected) send({ type: 'client_state', ...next });
    },
    reportTouch: () => touches.push({}),
  };
}
