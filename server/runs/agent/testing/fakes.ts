import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Call, CallFields } from '#lib/call/call';
import { changed, sampleCall } from '#lib/call/testing/sample-call';
import type { CallError } from '#lib/protocol/call-status';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { toModelName } from '#lib/protocol/tool-name';
import type { ToolListing } from '#lib/protocol/tool-spec';
import type { WatchEvent } from '#lib/protocol/watch-messages';
import { tempDir } from '#lib/testing/temp-dir';
import { given } from '#lib/util/given';
import { createSystemClock } from '../../../base/clock.ts';
import type { AbandonedDraft, CallService, DraftCall } from '../../../calls/call-service.ts';
import type { EventBus } from '../../../events/event-bus.ts';
import type { Store } from '../../../store/sqlite-store.ts';
import type { Change } from '../../../store/store.ts';
import { StoreFailedError } from '../../../store/store-errors.ts';
import { createFoldingStore } from '../../../store/testing/folding-store.ts';

/**
 * Test doubles for the tests of agent and runs: what is next to them, cut down
 * to what they use. The real ones have tests of their own.
 */

type Answer = { output: unknown; attachments?: Call['attachments'] } | { error: CallError };
type Handler = (args: Record<string, unknown>, signal: AbortSignal) => Promise<Answer> | Answer;

export interface FakeTool {
  readonly name: string;
  readonly description?: string;
  readonly schema?: Record<string, unknown>;
  readonly callable?: boolean;
  /** Without it the server's own: what a client gives is marked as untrusted. */
  readonly source?: Call['source'];
  readonly run: Handler;
}

export const toListing = (tool: FakeTool): ToolListing => ({
  name: tool.name,
  model_name: toModelName(tool.name),
  source: tool.source ?? 'server',
  description: tool.description ?? `The tool ${tool.name}`,
  schema: tool.schema ?? { type: 'object', properties: {} },
  timeout_ms: 30_000,
  clients: [],
  callable: tool.callable ?? true,
});

export const fakeCall = (given: CallFields & { id: string }): Call =>
  sampleCall({
    ...{ phase: 'streaming', args: {}, annotations: {}, card: { params: {} } },
    ...{ source: 'server', requestedBy: 'run:run_1', createdAt: 0 },
    ...given,
  });

export interface FakeCalls extends CallService {
  readonly records: Map<string, Call>;
  /** `update` of drafts, in order. */
  readonly updates: { callId: string; params: Record<string, unknown> }[];
  readonly cancelled: string[];
  /** Makes a call that is there from before, open or final. */
  put(record: Call): void;
  settle(id: string, answer: Answer): void;
}

const unused = (name: string) => () => Promise.reject(new Error(`${name} is not faked`));

export function createFakeCalls(tools: () => readonly FakeTool[]): FakeCalls {
  const records = new Map<string, Call>();
  const waiters = new Map<string, (() => void)[]>();
  const aborts = new Map<string, AbortController>();
  const updates: FakeCalls['updates'] = [];
  const cancelled: string[] = [];
  let count = 0;

  const put = (record: Call): Call => {
    records.set(record.id, record);
    if (isFinalStatus(record.status)) {
      for (const wake of waiters.get(record.id) ?? []) wake();
      waiters.delete(record.id);
    }
    return record;
  };

  const settle = (id: string, answer: Answer): Call => {
    const record = records.get(id);
    if (!record) throw new Error(`no call ${id}`);
    if (isFinalStatus(record.status)) return record;
    return 'error' in answer
      ? put(changed(record, { status: 'FAILED', phase: null, error: answer.error }))
      : put(
          changed(record, {
            status: 'SUCCEEDED',
            phase: null,
            result: answer.output,
            attachments: answer.attachments ?? [],
          }),
        );
  };

  const refuse = (id: string, message: string, why: AbandonedDraft = {}) => {
    const { code = 'invalid_args', reason, args } = why;
    const record = records.get(id);
    if (record && args) put({ ...record, args });
    const error: CallError = { code, message, executed: 'no', ...(reason ? { reason } : {}) };
    return settle(id, { error });
  };

  const complete = async (id: string, args: unknown): Promise<Call> => {
    const record = records.get(id);
    if (!record) throw new Error(`no call ${id}`);
    const tool = tools().find((one) => one.name === record.toolName);
    if (typeof args !== 'object' || args === null || Array.isArray(args)) {
      return refuse(id, 'args must be an object');
    }
    const given = Object.fromEntries(Object.entries(args));
    const started = put({ ...record, args: given });
    if (!tool) return refuse(id, `There is no tool ${record.toolName}.`);
    const abort = new AbortController();
    aborts.set(id, abort);
    put(changed(started, { status: 'RUNNING', phase: 'granted' }));
    void Promise.resolve(tool.run(given, abort.signal)).then((answer) => settle(id, answer));
    return records.get(id) ?? started;
  };

  return {
    records,
    updates,
    cancelled,
    put: (record) => void put(record),
    settle: (id, answer) => void settle(id, answer),
    storedBytes: async () => 0,
    wasDeleted: () => false,
    async draft({ runId, tool }): Promise<DraftCall> {
      count += 1;
      const id = `tc_${count}`;
      const { source = 'server' } = tools().find(({ name }) => name === tool) ?? {};
      const by = { requestedBy: `run:${runId}`, createdAt: count };
      put(fakeCall({ id, runId, toolName: tool, source, ...by }));
      return {
        callId: id,
        update: (params) => void updates.push({ callId: id, params }),
        complete: (args) => complete(id, args),
        abandon: async (message, why) => refuse(id, message, why),
      };
    },
    follow: () => () => {},
    get: async (id) => records.get(id),
    async list({ runId }) {
      const calls = [...records.values()].filter((one) => one.runId === runId).reverse();
      return { calls, nextCursor: null };
    },
    async wait(id, _waitMs, signal) {
      const record = records.get(id);
      if (!record || isFinalStatus(record.status)) return record;
      await new Promise<void>((resolve) => {
        waiters.set(id, [...(waiters.get(id) ?? []), resolve]);
        signal?.addEventListener('abort', () => resolve(), { once: true });
      });
      return records.get(id);
    },
    async cancel(id, reason, _actor, by) {
      cancelled.push(id);
      aborts.get(id)?.abort();
      const call = settle(id, {
        error: { code: 'cancelled', message: reason, executed: 'unknown' },
      });
      const card = { ...call.card, ...given({ cancelled_by: by }) };
      records.set(id, { ...call, card });
      return { ok: true, call: { ...call, card } };
    },
    invoke: unused('invoke'),
    retry: unused('retry'),
    decide: unused('decide'),
    answer: unused('answer'),
    extend: unused('extend'),
    watched: () => [],
    events: async () => [],
    endedOf: async () => [],
    always: { list: () => [], withdraw: async () => undefined },
  };
}

export interface TestStore extends Store {
  readonly file: string;
  readonly writes: (readonly Change[])[];
  /** Every write from now on fails. */
  fail(): void;
}

/** The real store, in a directory of its own, that lists what was written and can be broken. */
export function createTestStore(file = join(tempDir(), 'callboard.db')): TestStore {
  const writes: (readonly Change[])[] = [];
  const store = createFoldingStore({ file });
  // Its threads would be there until the last test of the process.
  onTestFinished(() => store.close());
  let failed = false;
  return {
    ...store,
    file,
    writes,
    fail: () => {
      failed = true;
    },
    get failed() {
      return failed;
    },
    async write(changes) {
      if (failed) throw new StoreFailedError('the disk is gone');
      await store.write(changes);
      writes.push(structuredClone(changes));
    },
  };
}

export interface FakeBus extends EventBus {
  readonly events: WatchEvent[];
  /** Resolves with the first event, past or to come, that fits. */
  until(fits: (event: WatchEvent) => boolean): Promise<WatchEvent>;
}

export function createFakeBus(): FakeBus {
  const events: WatchEvent[] = [];
  const waiting: { fits: (event: WatchEvent) => boolean; found: (event: WatchEvent) => void }[] =
    [];
  return {
    events,
    publish(body) {
      const event = { ...body, seq: events.length + 1 } as WatchEvent;
      events.push(structuredClone(event));
      for (const one of waiting) if (one.fits(event)) one.found(event);
      return event.seq;
    },
    get seq() {
      return events.length;
    },
    until(fits) {
      const past = events.find(fits);
      if (past) return Promise.resolve(past);
      return new Promise((found) => waiting.push({ fits, found }));
    },
    subscribe: () => ({ complete: true, close: () => undefined }),
    openInbox: () => () => undefined,
    deliver: unused('deliver'),
  };
}

/** The real time, without the waits between two pieces of text. */
export const systemClock = createSystemClock();
