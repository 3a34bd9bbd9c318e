import type { Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { reconnectCap } from '#lib/net/backoff';
import { type Clock, pause } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { KeptArea, type Store } from '../store/room.ts';
import { type ToolAnswer, type ToolContext, ToolError } from '../tools/room.ts';
import { toAnswer } from './call-result.ts';
import { isFinalFailure, TIP_CHARS, toToolError } from './run-call.ts';
import { ask, type Task, taskRequest, taskSchema } from './task-messages.ts';

const keptTaskSchema = z.object({
  call: z.string(),
  server: z.string(),
  /** The server calls the tool so. */
  foreign: z.string(),
  task_id: z.string(),
  poll_ms: z.number().optional(),
});
export type KeptTask = z.infer<typeof keptTaskSchema>;

/** The tasks that servers answered calls with, over restarts: as long as the call is open. */
export class KeptTasks {
  readonly #area: KeptArea<KeptTask>;
  readonly #logger: Logger;
  readonly #byCall = new Map<string, KeptTask>();

  constructor(deps: { store: Pick<Store, 'write' | 'listKept'>; clock: Clock; logger: Logger }) {
    const { store, clock } = deps;
    this.#logger = deps.logger;
    this.#area = new KeptArea({ store, area: 'mcp_task', schema: keptTaskSchema, now: clock.now });
  }

  /** Forgets the tasks of servers that are not configured any more. */
  async load(ids: ReadonlySet<string>): Promise<void> {
    for (const { value } of await this.#area.load()) {
      this.#byCall.set(value.call, value);
      if (!ids.has(value.server)) this.forget(value.call);
    }
  }

  ofCall(call: string, server: string): KeptTask | undefined {
    const task = this.#byCall.get(call);
    return task?.server === server ? task : undefined;
  }

  ofServer(server: string): readonly KeptTask[] {
    return [...this.#byCall.values()].filter((task) => task.server === server);
  }

  /** Resolves when it is on disk. */
  async put(task: KeptTask): Promise<void> {
    await this.#area.change([{ key: task.call, value: task }]);
    this.#byCall.set(task.call, task);
  }

  /** The end of the call is on disk. */
  forget(call: string): void {
    if (!this.#byCall.delete(call)) return;
    this.#area.change([{ key: call }]).catch(this.#logger.error);
  }
}

/** Whatever the server wishes. */
const POLL_MS = { least: 200, usual: 1_000, most: 30_000 } as const;
const ANSWER_MS = 30_000;
/** A task that its server cannot cancel goes on there, and is none of ours any more. */
const MOST_CANCELS = 10;

export interface FollowDeps {
  readonly clock: Clock;
  /** Waits for the server where it is away. */
  readonly reached: (signal: AbortSignal) => Promise<Client>;
  /** The task has ended at the server, or is not known there. */
  readonly ended: (task: KeptTask) => void;
  /** Something went wrong, and is tried again. */
  readonly failed: (error: unknown) => void;
}

/** Asks for a task until it has ended or its call has, whatever becomes of the connection meanwhile. */
export async function followTask(
  task: KeptTask,
  deps: FollowDeps,
  context: ToolContext,
): Promise<ToolAnswer> {
  let waitMs = boundedMs(task.poll_ms);
  for (;;) {
    await pause(deps.clock, waitMs, context.signal);
    const now = await readTask(task, deps, context.signal);
    if (!now) continue;
    const tip = now.statusMessage?.slice(0, TIP_CHARS);
    if (tip !== undefined) context.status({ tip });
    if (now.status !== 'working') {
      if (now.status !== 'input_required') deps.ended(task);
      return endOf(task, now, context);
    }
    waitMs = boundedMs(now.pollIntervalMs);
  }
}

/** Resolves when the server has taken the cancel, refused it for good, or failed ten times; rejects when `signal` ends. */
export async function stopTask(
  { task_id }: KeptTask,
  { clock, reached, failed }: FollowDeps,
  signal: AbortSignal,
): Promise<void> {
  const request = taskRequest('tasks/cancel', task_id);
  for (let tries = 0; tries < MOST_CANCELS; tries += 1) {
    const client = await reached(signal);
    try {
      await ask(client, request, { signal, timeout: ANSWER_MS });
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (isFinalFailure(error)) return;
      failed(error);
    }
    await pause(clock, reconnectCap(tries), signal);
  }
}

const boundedMs = (asked: number = POLL_MS.usual): number =>
  Math.min(Math.max(asked, POLL_MS.least), POLL_MS.most);

class UnreadableTaskError extends Error {}

/** Undefined where the server could not be asked: it is asked again. */
async function readTask(
  task: KeptTask,
  { reached, ended, failed }: FollowDeps,
  signal: AbortSignal,
): Promise<Task | undefined> {
  const client = await reached(signal);
  try {
    const request = taskRequest('tasks/get', task.task_id);
    const answer = await ask(client, request, { signal, timeout: ANSWER_MS });
    const read = taskSchema.safeParse(answer);
    if (read.success) return read.data;
    throw new UnreadableTaskError(`Its answer for the task ${task.task_id} has no state.`);
  } catch (error) {
    signal.throwIfAborted();
    if (isFinalFailure(error) || error instanceof UnreadableTaskError) {
      ended(task);
      throw lostTask(task, error);
    }
    failed(error);
    return undefined;
  }
}

function lostTask({ server, foreign }: KeptTask, error: unknown): ToolError {
  const { message } = toToolError(error, { id: server, foreign });
  const lost = `The server ${server} does not answer for the task that it made of ${foreign}: ${message}`;
  return new ToolError(lost, { executed: 'unknown', code: 'outcome_unknown' });
}

async function endOf(
  task: KeptTask,
  { status, result, error, statusMessage }: Task,
  { attach }: ToolContext,
): Promise<ToolAnswer> {
  const of = `The server ${task.server}`;
  switch (status) {
    case 'completed':
      return toAnswer(result, attach);
    case 'input_required':
      throw new ToolError(
        `${of} asks for input before it goes on with ${task.foreign}. Callboard gives none, and asked it to stop.`,
        { executed: 'unknown' },
      );
    case 'cancelled':
      throw new ToolError(`${of} cancelled its task.`, { executed: 'unknown' });
    default: {
      const reason = error?.message ?? statusMessage ?? 'it gives no reason';
      throw new ToolError(`${of} failed: ${reason.slice(0, 2_000)}`, { executed: 'unknown' });
    }
  }
}
