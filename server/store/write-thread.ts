import { Worker } from 'node:worker_threads';
import type { Applied } from './apply-log.ts';
import { type StepGroup, toGroup, type WriteStep } from './step-group.ts';

/** A value that is the checksum of others, by their places: the thread computes it. */
export interface Sum {
  readonly at: number;
  readonly of: readonly number[];
}

/** The store asks its thread for one of these. */
export type ThreadRequest =
  | {
      readonly type: 'prepare';
      readonly statement: number;
      readonly sql: string;
      readonly sums: readonly Sum[];
    }
  /** `position`: where the log is after it. */
  | ({ readonly type: 'commit'; readonly position: number } & StepGroup)
  | { readonly type: 'apply' }
  | { readonly type: 'close' };

/** In the order of the requests that are answered. */
export type ThreadAnswer =
  | { readonly ok: true; readonly applied: Applied }
  | { readonly ok: false; readonly message: string };

/**
 * The thread that writes. An fsync takes a moment in which the event loop goes
 * on here, so that the next group grows meanwhile and a slow disk delays nobody
 * who does not wait for it.
 */
export interface WriteThread {
  /** Makes a statement known; its number. */
  prepare(sql: string, sums?: readonly Sum[]): number;
  /**
   * All steps in one transaction, durable when it resolves; or, rejecting, none, nor of any
   * commit after it. In the order in which they were asked for.
   */
  commit(steps: readonly WriteStep[], position: number): Promise<unknown>;
  /** Makes what follows from some of the log. */
  apply(): Promise<Applied>;
  close(): Promise<void>;
}

export function startWriteThread(options: {
  readonly file: string;
  /** `write-worker.ts`, or what it was built to. */
  readonly workerPath: string | URL;
}): WriteThread {
  const worker = new Worker(options.workerPath, { workerData: { file: options.file } });
  let statements = 0;
  let pending: { resolve(applied: Applied): void; reject(error: Error): void }[] = [];
  let removed: Error | undefined;
  const ended = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      settle(new Error('the thread that writes has ended'));
      resolve();
    });
  });
  worker.on('error', settle);
  worker.on('message', (answer: ThreadAnswer) => {
    const waiting = pending.shift();
    if (answer.ok) waiting?.resolve(answer.applied);
    else waiting?.reject(new Error(answer.message));
    // Only what is to be written keeps the process alive.
    if (pending.length === 0) worker.unref();
  });
  worker.unref();

  function settle(error: Error): void {
    removed ??= error;
    for (const waiting of pending) waiting.reject(removed);
    pending = [];
  }

  const post = (request: ThreadRequest) => worker.postMessage(request);

  function ask(request: ThreadRequest): Promise<Applied> {
    if (removed) return Promise.reject(removed);
    worker.ref();
    return new Promise((resolve, reject) => {
      pending.push({ resolve, reject });
      post(request);
    });
  }

  return {
    prepare(sql, sums = []) {
      statements += 1;
      post({ type: 'prepare', statement: statements, sql, sums });
      return statements;
    },
    commit: (steps, position) => ask({ type: 'commit', position, ...toGroup(steps) }),
    apply: () => ask({ type: 'apply' }),
    close() {
      worker.ref();
      if (!removed) post({ type: 'close' });
      return ended;
    },
  };
}
