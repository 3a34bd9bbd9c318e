import { Worker } from 'node:worker_threads';
import type { Applied } from './apply-log.ts';
import type { SqlValue } from './compile-query.ts';

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

/** One statement of a transaction: its number, and its values as columns take them. */
export type WriteStep = readonly [statement: number, values: readonly SqlValue[]];

/**
 * The steps of a transaction as few values that are plain bytes: a fraction of
 * what it costs to clone many small ones, or to write them as JSON and read that.
 */
export interface StepGroup {
  /** Each step has its statement, how many values it has, and each value by its kind. */
  readonly numbers: Float64Array;
  /** Its texts, one behind the other. */
  readonly text: string;
  readonly longTexts: readonly string[];
}

/** A value has one of these kinds; but for null, one number more follows. */
const NULL = 0;
const NUMBER = 1;
/** The number is its length: it is the next part of the text. */
const TEXT = 2;
/** The number is its place among the long texts. */
const LONG_TEXT = 3;

/** A longer text is not copied into the text of the group. */
const LONG_CHARS = 64 * 1024;

export function toGroup(steps: readonly WriteStep[]): StepGroup {
  const numbers: number[] = [];
  const longTexts: string[] = [];
  let text = '';
  for (const [statement, values] of steps) {
    numbers.push(statement, values.length);
    for (const value of values) {
      if (value === null) numbers.push(NULL);
      else if (typeof value === 'number') numbers.push(NUMBER, value);
      else if (value.length > LONG_CHARS) numbers.push(LONG_TEXT, longTexts.push(value) - 1);
      else {
        numbers.push(TEXT, value.length);
        text += value;
      }
    }
  }
  return { numbers: Float64Array.from(numbers), text, longTexts };
}

export function* stepsOf({
  numbers,
  text,
  longTexts,
}: StepGroup): Generator<[statement: number, values: SqlValue[]]> {
  let place = 0;
  let read = 0;
  const next = () => numbers[place++] ?? 0;
  const nextValue = (): SqlValue => {
    switch (next()) {
      case NUMBER:
        return next();
      case TEXT: {
        const from = read;
        read += next();
        return text.slice(from, read);
      }
      case LONG_TEXT:
        return longTexts[next()] ?? null;
      default:
        return null;
    }
  };
  while (place < numbers.length) {
    const statement = next();
    const values: SqlValue[] = [];
    for (let left = next(); left > 0; left -= 1) values.push(nextValue());
    yield [statement, values];
  }
}
