import type { DeviceTool } from '#lib/protocol/device';
import { abortable } from '#lib/util/abortable';
import { createEmitter } from '#lib/util/emitter';
import { given } from '#lib/util/given';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import {
  type ProvidedTool,
  type ToolContext,
  ToolError,
  type ToolOrigin,
  type ToolProvider,
} from '../tools/room.ts';
import { type Connection, connectServer } from './connect-server.ts';
import {
  type FollowDeps,
  followTask,
  type KeptTask,
  type KeptTasks,
  stopTask,
} from './follow-task.ts';
import { listTools } from './foreign-tools.ts';
import { isHttpServer, type McpServerSettings } from './mcp-servers-config.ts';
import { CHANGED, type Offered, OfferedTools, type OfferedToolsDeps } from './offered-tools.ts';
import type { Pin } from './pins.ts';
import { OutputTail } from './program-transport.ts';
import {
  isLost,
  isNotRun,
  isSessionLost,
  runCall,
  type ServerCall,
  SessionLostError,
} from './run-call.ts';
import { ServerLink } from './server-link.ts';
import type { CreatedTask } from './task-messages.ts';

export interface McpServerDeps
  extends Pick<OfferedToolsDeps, 'id' | 'pins' | 'check' | 'isReserved'> {
  readonly settings: McpServerSettings;
  readonly version: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly tasks: Pick<KeptTasks, 'ofCall' | 'ofServer' | 'put' | 'forget'>;
}

/** From the first word that the list changed to reading it: many such words come at once. */
const GATHER_MS = 300;
/** Between two readings of the list, however often it changes. */
const LEAST_BETWEEN_MS = 2_000;
/** A server behind HTTP that is gone is noticed by nothing else. */
const LOOK_EACH_MS = 60_000;

/** Tasks of calls that have ended, which are to be cancelled: of more the newest are not. */
const MOST_UNSTOPPED = 1_000;

/** A call is made again that was refused before it ran, or that does no harm twice. */
const isRepeated = (error: unknown, { annotations }: Offered['tool']): boolean =>
  error instanceof SessionLostError ||
  (isLost(error) && (annotations.readOnlyHint === true || annotations.idempotentHint === true));

const isSecond = (error: unknown, before: unknown): boolean =>
  error instanceof SessionLostError && before instanceof SessionLostError;

const AWAY = (id: string): string => `The MCP server ${id} is not connected.`;

/** The tools of one MCP server (rules MC in SPEC.md). */
export class McpServer implements ToolProvider {
  readonly id: string;
  readonly origin: ToolOrigin;
  readonly settings: McpServerSettings;
  readonly #deps: McpServerDeps;
  readonly #tools: OfferedTools;
  readonly #link: ServerLink;
  readonly #tail = new OutputTail();
  readonly #changes;
  #cancelLook: (() => void) | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #isStale = false;
  /** Calls of before the start that were open then. */
  readonly #resumed = new Set<string>();
  /** Calls whose tasks have ended at the server. */
  readonly #over = new Set<string>();
  /** By their calls. */
  readonly #unstopped = new Set<string>();
  readonly #stopping = new AbortController();
  /** Readings of the list, one after the other. */
  #reading: Promise<void> = Promise.resolve();

  constructor(deps: McpServerDeps) {
    const { id, settings, clock, random, version, logger } = deps;
    this.#deps = deps;
    this.id = id;
    this.settings = settings;
    // All that it says and gives is content of others, whatever is believed of its hints.
    this.origin = { source: 'mcp', toolProvider: `mcp:${id}` };
    this.#changes = createEmitter<void>(logger.error);
    this.#tools = new OfferedTools(deps);
    this.#link = new ServerLink({
      clock,
      random,
      connect: (options) => connectServer(settings, { ...options, version, tail: this.#tail }),
      opened: (connection, signal) => this.#read(connection, signal),
      listChanged: () => this.#listChanged(),
      changed: () => this.#linkChanged(),
    });
  }

  restore(pins: readonly Pin[]): Promise<void> {
    return this.#tools.restore(pins, AWAY(this.id));
  }

  /** Once the calls of before were taken up. */
  start(): void {
    this.#link.start();
    const { tasks } = this.#deps;
    // An earlier server could not cancel them any more.
    const unused = tasks.ofServer(this.id).filter(({ call }) => !this.#resumed.has(call));
    for (const task of unused) this.#stopTask(task);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancelLook?.();
    await this.#link.stop();
  }

  reconnect(): void {
    this.#link.reconnect().catch(this.#deps.logger.error);
  }

  async accept(hashes: readonly string[]): Promise<readonly DeviceTool[] | undefined> {
    const accepted = await this.#tools.accept(hashes);
    this.#changes.emit();
    return accepted;
  }

  get status() {
    const { all: tools, refusals } = this.#tools;
    return { ...this.#link.status, tools, refusals, stderrTail: this.#tail.text };
  }

  list(): readonly ProvidedTool[] {
    return this.#tools.list();
  }

  onChange(listener: () => void): () => void {
    return this.#changes.subscribe(listener);
  }

  async execute(name: string, args: Readonly<Record<string, unknown>>, context: ToolContext) {
    const { id } = this;
    let lost: { readonly on: Connection; readonly error: unknown } | undefined;
    for (;;) {
      const { connection } = this.#link;
      const offered = this.#tools.find(name);
      if (!connection || !offered || offered.changed) {
        throw lost?.error ?? this.#refusal(name);
      }
      const { foreign, tool } = offered;
      const mostMs = this.settings.max_call_s * 1_000;
      const call = { id, foreign, schema: tool.schema, args, mostMs };
      const failed = await this.#call(connection, call, context).then(
        (answer) => ({ answer }),
        (error: unknown) => ({ error }),
      );
      if ('answer' in failed) return failed.answer;
      const { error } = failed;
      // Once more at most by one connection: a server that takes no call is not asked in a circle.
      if (!isRepeated(error, tool) || lost?.on === connection || isSecond(error, lost?.error)) {
        // It is not known whether the attempt before ran.
        throw lost && isNotRun(error) ? lost.error : error;
      }
      lost = { on: connection, error };
      await this.#back(connection, error, context.signal);
    }
  }

  async #call({ client }: Connection, call: ServerCall, context: ToolContext) {
    const answered = await runCall(client, call, context);
    if ('answer' in answered) return answered.answer;
    return this.#keepTask(call.foreign, answered.task, context);
  }

  /** The end of the call is on disk; its task may go on, also where nothing follows it. */
  callEnded(callId: string): void {
    const task = this.#deps.tasks.ofCall(callId, this.id);
    if (!task) return;
    if (this.#over.delete(callId)) this.#deps.tasks.forget(callId);
    else this.#stopTask(task);
  }

  resume(callId: string) {
    const task = this.#deps.tasks.ofCall(callId, this.id);
    if (task) this.#resumed.add(callId);
    return task && ((context: ToolContext) => followTask(task, this.#following, context));
  }

  /** Once the server is there; when Callboard stops before, its next start does. */
  #stopTask(task: KeptTask): void {
    const { signal } = this.#stopping;
    const { call } = task;
    if (this.#unstopped.size >= MOST_UNSTOPPED) return this.#deps.tasks.forget(call);
    this.#unstopped.add(call);
    stopTask(task, this.#following, signal)
      .then(() => this.#deps.tasks.forget(call))
      .catch((error: unknown) => {
        if (!signal.aborted) this.#deps.logger.error(error);
      })
      .finally(() => this.#unstopped.delete(call));
  }

  /** From here on the call outlives a crash. */
  async #keepTask(foreign: string, { taskId, pollIntervalMs }: CreatedTask, context: ToolContext) {
    const { callId: call } = context;
    const of = { call, server: this.id, foreign, task_id: taskId };
    const task: KeptTask = { ...of, ...given({ poll_ms: pollIntervalMs }) };
    await this.#deps.tasks.put(task);
    return followTask(task, this.#following, context);
  }

  get #following(): FollowDeps {
    return {
      clock: this.#deps.clock,
      ended: ({ call }) => this.#over.add(call),
      reached: async (signal) => {
        for (;;) {
          const { connection } = this.#link;
          if (connection) return connection.client;
          await this.#reached(signal);
        }
      },
      failed: (error) => this.#link.report(error),
    };
  }

  /** Why a call of the tool cannot be made now. */
  #refusal(name: string): ToolError {
    const { id } = this;
    const offered = this.#tools.find(name);
    if (offered?.changed) return new ToolError(CHANGED, { executed: 'no', code: 'denied' });
    const isConnected = this.#link.connection !== undefined;
    const message = isConnected
      ? `The MCP server ${id} does not offer ${name} any more.`
      : AWAY(id);
    return new ToolError(message, { executed: 'no', code: 'no_provider' });
  }

  /** Waits, within the call's own time, for a server that was lost; rejects with why once the call is stopped. */
  async #back(connection: Connection, lost: unknown, signal: AbortSignal): Promise<void> {
    if (lost instanceof SessionLostError) await abortable(signal, this.#link.renew(connection));
    // One request says nothing of the others, and no end of a connection comes.
    else if (isHttpServer(this.settings)) await abortable(signal, this.#look());
    await this.#reached(signal, lost);
  }

  /** `lost` is thrown when the connection is not made any more; without it that ends with the signal. */
  #reached(signal: AbortSignal, lost?: unknown): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = () => {
      const { state } = this.#link.status;
      if (state === 'connecting' || state === 'waiting' || state === 'failed') return;
      if (state === 'connected') resolve();
      else if (state !== 'stopped' || lost !== undefined) reject(lost);
    };
    const unsubscribe = this.#changes.subscribe(look);
    // The end of the connection may not have been noticed yet.
    queueMicrotask(look);
    return abortable(signal, promise).finally(unsubscribe);
  }

  #linkChanged(): void {
    const { state } = this.#link.status;
    this.#tools.setUnavailable(state === 'connected' ? undefined : AWAY(this.id));
    this.#changes.emit();
  }

  #read(connection: Connection, signal?: AbortSignal): Promise<void> {
    const read = this.#reading.then(async () => {
      this.#isStale = false;
      this.#readAt = this.#deps.clock.now();
      const { tools, leftOut } = await listTools(connection.client, signal);
      await this.#tools.take(tools, leftOut);
      this.#changes.emit();
      // A change while it was read was announced, and is read soon.
      if (isHttpServer(this.settings) && !this.#isStale) this.#lookIn(LOOK_EACH_MS);
    });
    this.#reading = read.catch(() => {});
    return read;
  }

  /** However often it comes, the list is read once, and not at once again. */
  #listChanged(): void {
    if (this.#isStale) return;
    this.#isStale = true;
    const since = this.#deps.clock.now() - this.#readAt;
    this.#lookIn(Math.max(GATHER_MS, LEAST_BETWEEN_MS - since));
  }

  #lookIn(ms: number): void {
    this.#cancelLook?.();
    this.#cancelLook = this.#deps.clock.schedule(ms, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { connection } = this.#link;
    if (!connection) {
      // The list of a new connection is read; a change meanwhile is read after it.
      const isOpening = this.#isStale && this.#link.status.state === 'connecting';
      if (isOpening) this.#lookIn(GATHER_MS);
      return;
    }
    try {
      await this.#read(connection);
    } catch (error) {
      if (isSessionLost(error, connection.client)) await this.#link.renew(connection);
      else if (isHttpServer(this.settings)) await this.#link.fail(connection, error);
      else this.#link.report(error);
    }
  }
}
