import { z } from 'zod';
import type { Call } from '#lib/call/call';
import type { CallPhase } from '#lib/protocol/call-status';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { InputRequests } from './approval-questions.ts';
import { waitsFor } from './report-progress.ts';
import { type ResultSources, type ToolResult, toToolResult } from './tool-result.ts';

/** A call that ends sooner is answered as any other. */
export const QUICK_MS = 300;

const FIRST_POLLS_MS = 5_000;

export const taskParamsSchema = z.looseObject({ taskId: z.string().max(128) });

type TaskStatus = 'working' | 'input_required' | 'completed' | 'cancelled';

/** A task as `tools/call` and `tasks/get` give it: flat, its times as ISO 8601. */
export interface Task {
  readonly resultType: 'task' | 'complete';
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  /** Milliseconds; null: kept for as long as there is history. */
  readonly ttlMs: number | null;
  readonly pollIntervalMs: number;
  readonly result?: ToolResult & { readonly resultType: 'complete' };
  /** Its client may show these to its person meanwhile. */
  readonly inputRequests?: InputRequests;
}

export interface TaskTimes {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** How long history is kept, in milliseconds; null: for ever. */
  readonly keepMs: number | null;
}

/** The task stands in place of a result while the call goes on. */
export const toCreatedTask = (call: Call, times: TaskTimes): Task => ({
  ...facts(call, times),
  resultType: 'task',
});

/** The task has what it asks, or the result of a call that has ended, which must be complete in itself. */
export async function toTask(
  call: Call,
  { inputRequests, ...times }: TaskTimes & { inputRequests: InputRequests | undefined },
  sources: ResultSources,
): Promise<Task> {
  const task: Task = { ...facts(call, times), resultType: 'complete' };
  if (inputRequests) return { ...task, status: 'input_required', inputRequests };
  if (task.status !== 'completed') return task;
  const result = await toToolResult(call, sources);
  return { ...task, result: { ...result, resultType: 'complete' } };
}

function facts(
  call: Call,
  times: TaskTimes,
): Omit<Task, 'resultType' | 'result' | 'inputRequests'> {
  const { now, keepMs } = times;
  const changedAt = call.completedAt ?? call.startedAt ?? call.offeredAt ?? call.createdAt;
  return {
    taskId: call.id,
    status: statusOf(call),
    statusMessage: isFinalStatus(call.status) ? endOf(call) : waitsFor(call),
    createdAt: new Date(call.createdAt).toISOString(),
    lastUpdatedAt: new Date(changedAt).toISOString(),
    ttlMs: keepMs === null ? null : Math.max(0, call.createdAt + keepMs - now),
    pollIntervalMs: pollMs(call.phase, now - call.createdAt),
  };
}

/** `failed` is for faults of the protocol alone: a tool that failed has a result that says so. */
function statusOf({ status, error }: Call): TaskStatus {
  if (!isFinalStatus(status)) return 'working';
  return error?.code === 'cancelled' ? 'cancelled' : 'completed';
}

const endOf = ({ status, error }: Call): string =>
  status === 'SUCCEEDED' ? 'Done.' : (error?.message.slice(0, 500) ?? 'It ended without a result.');

/** A call that waits for a person takes its time. */
function pollMs(phase: CallPhase | null, age: number): number {
  const isOfPerson = phase === 'approval' || phase === 'held' || phase === 'device';
  if (isOfPerson || phase === 'queued') return 5_000;
  return age < FIRST_POLLS_MS ? 500 : 1_000;
}
