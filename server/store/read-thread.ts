import { Worker } from 'node:worker_threads';
import type { RawBuilder } from 'kysely';
import { compileQuery, type SqlValue } from './compile-query.ts';
import type { ReadRows } from './first-rows.ts';
import { StoreBusyError } from './store-errors.ts';

/** The store asks its reading thread for rows. */
export interface ReadRequest {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  /** Beyond so many characters only the first row is given. */
  readonly maxChars: number;
}

/** The thread says this first: from then on it takes queries. */
export type Ready = 'ready';

export type ReadAnswer =
  | ({ readonly ok: true } & ReadRows<unknown>)
  /** `code` and `errcode` as SQLite and Node give them. */
  | { readonly ok: false; readonly message: string; code?: unknown; errcode?: unknown };

/**
 * The thread that reads what may take a while: lists, searches and histories.
 * It runs one query at a time on a connection of its own that cannot write, and
 * sees every write that has resolved.
 */
export interface ReadThread {
  /**
   * Rejects with `StoreBusyError` when the rows are not there within the time
   * limit; the thread is then ended, and another one takes its place.
   */
  rows<Row>(query: RawBuilder<Row>, maxChars?: number): Promise<ReadRows<Row>>;
  close(): Promise<void>;
}

interface Asked {
  readonly request: ReadRequest;
  resolve(rows: ReadRows<unknown>): void;
  reject(error: Error): void;
  /** Its time runs. */
  timer?: NodeJS.Timeout;
}

const LIMIT_MS = 5_000;
/** More than these wait for nothing but their time limit. */
const MAX_WAITING = 1_000;

export function startReadThread(options: {
  readonly file: string;
  /** `read-worker.ts`, or what it was built to. */
  readonly workerPath: string | URL;
  /** From asking on, but that a thread that starts is waited for: a busy machine takes seconds for that. */
  readonly limitMs?: number;
}): ReadThread {
  const { limitMs = LIMIT_MS } = options;
  const waiting: Asked[] = [];
  let running: Asked | undefined;
  let worker: Worker | undefined;
  let isStarting = false;
  /** Nothing is asked of it any more; the next one is started when it is gone. */
  let isEnding = false;
  let removed: Promise<void> = Promise.resolve();
  let closed = false;

  /** Started by the first query, and again by the first one after it has ended. */
  function start(): Worker {
    const started = new Worker(options.workerPath, { workerData: { file: options.file } });
    isStarting = true;
    removed = new Promise((resolve) => {
      started.once('exit', () => {
        worker = undefined;
        isStarting = false;
        isEnding = false;
        finish()?.reject(new StoreBusyError('the thread that reads has ended'));
        resolve();
        next();
      });
    });
    started.on('error', (error: Error) => {
      isEnding = true;
      finish()?.reject(error);
    });
    started.on('message', (answer: ReadAnswer | Ready) => {
      if (isEnding) return; // It came too late.
      if (answer === 'ready') return ready();
      const asked = finish();
      if (answer.ok) asked?.resolve(answer);
      else asked?.reject(toError(answer));
      next();
    });
    return started;
  }

  function ready(): void {
    isStarting = false;
    for (const asked of [running, ...waiting]) if (asked) limit(asked);
  }

  function limit(asked: Asked): void {
    asked.timer ??= setTimeout(() => expire(asked), limitMs);
  }

  function next(): void {
    if (running || isEnding) return;
    running = waiting.shift();
    if (!running) {
      worker?.unref(); // Only a query keeps the process alive.
      return;
    }
    worker ??= start();
    worker.ref();
    worker.postMessage(running.request);
  }

  /** Takes the query that runs, which is over. */
  function finish(): Asked | undefined {
    const asked = running;
    running = undefined;
    if (asked) clearTimeout(asked.timer);
    return asked;
  }

  function expire(asked: Asked): void {
    const error = new StoreBusyError(`the query was not answered within ${limitMs} ms`);
    asked.reject(error);
    if (asked === running) {
      isEnding = true; // Its exit goes on with the next query; an answer until then is too late.
      void worker?.terminate();
    } else waiting.splice(waiting.indexOf(asked), 1);
  }

  return {
    rows<Row>(query: RawBuilder<Row>, maxChars = Number.POSITIVE_INFINITY) {
      if (closed) return Promise.reject(new StoreBusyError('the database is closed'));
      if (waiting.length >= MAX_WAITING) {
        return Promise.reject(new StoreBusyError(`${MAX_WAITING} queries wait already`));
      }
      return new Promise<ReadRows<Row>>((resolve, reject) => {
        const asked: Asked = {
          request: { ...compileQuery(query), maxChars },
          // The rows are those that the query was typed for.
          resolve: resolve as Asked['resolve'],
          reject,
        };
        waiting.push(asked);
        next();
        if (!isStarting) limit(asked);
      });
    },
    async close() {
      closed = true;
      for (const asked of waiting.splice(0)) {
        clearTimeout(asked.timer);
        asked.reject(new StoreBusyError('the database is closed'));
      }
      await worker?.terminate();
      await removed;
    },
  };
}

/** The error has the numbers with which it was thrown on the thread: `isDiskTrouble` asks for them. */
function toError({ message, code, errcode }: Extract<ReadAnswer, { ok: false }>): Error {
  return Object.assign(
    new Error(message),
    code === undefined ? {} : { code },
    errcode === undefined ? {} : { errcode },
  );
}
