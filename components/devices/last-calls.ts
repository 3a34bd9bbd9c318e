import type { ListedCall } from '#lib/protocol/call-record';

/** How a device did in its newest calls. Times in milliseconds. */
export interface LastCalls {
  readonly ended: number;
  readonly failed: number;
  /** Of those that ran: half took so long at most; null where none did. */
  readonly medianMs: number | null;
  /** The newest failure. */
  readonly lastError: {
    readonly tool: string;
    readonly message: string;
    readonly at: number;
  } | null;
}

/** `calls` are newest first; those that have not ended do not count. */
export function summarise(calls: readonly ListedCall[]): LastCalls {
  const ended = calls.filter(({ completed_at }) => completed_at !== null);
  const failed = ended.filter(({ status }) => status !== 'SUCCEEDED');
  const took = ended
    .flatMap(({ timings: { started_at, completed_at } }) =>
      started_at === null || completed_at === null ? [] : [(completed_at - started_at) * 1_000],
    )
    .toSorted((a, b) => a - b);
  const [last] = failed;
  return {
    ended: ended.length,
    failed: failed.length,
    medianMs: took[Math.floor((took.length - 1) / 2)] ?? null,
    lastError: last
      ? {
          tool: last.tool_name,
          message: last.error?.message ?? last.status,
          at: last.completed_at ?? last.created_at,
        }
      : null,
  };
}
