import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { NO_ROUTING } from '#lib/call/call';
import type { CallEvent } from '#lib/call/call-event';
import { decide } from '#lib/call/decide';
import { newCall } from '#lib/call/new-call';
import type { RunSummary } from '#lib/protocol/run';
import { EventBatch } from '../../server/calls/event-batch.ts';
import { createLogApplier } from '../../server/store/apply-log.ts';
import { CallOverlay, NOT_THERE } from '../../server/store/call-overlay.ts';
import { createChangeWriter } from '../../server/store/change-writer.ts';
import { rowChecksum } from '../../server/store/row-checksum.ts';
import { createSqliteStore } from '../../server/store/sqlite-store.ts';
import type { Change } from '../../server/store/store.ts';
import type { Sum, WriteStep } from '../../server/store/write-thread.ts';

/** Calls of one write: as many as are in flight at a busy moment. */
const WRITE_CALLS = 500;
const CALLS_OF_RUN = 20;
const TOOLS = 40;
const CLIENTS = 200;
const BEGIN = 1_700_000_000_000;
const APART_MS = 1_000;

export const runOf = (number: number): string => `run_${Math.floor(number / CALLS_OF_RUN)}`;
const callId = (number: number): string => `tc_${String(number).padStart(9, '0')}`;
export const toolOf = (number: number): string => `tool_${number % TOOLS}.look_up`;
export const clientOf = (number: number): string => `client_${number % CLIENTS}`;

/**
 * A store of so many calls that have ended, with their events, runs and words:
 * the statements of the product, run without waiting for the disk.
 */
export async function makeHistory(file: string, count: number): Promise<void> {
  await createSqliteStore({ file }).close();
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-1000000');
  const run = createRunner(database);
  const overlay = new CallOverlay({ read: () => NOT_THERE, newest: '', position: 0, open: [] });
  const writer = createChangeWriter(run, overlay);
  const applySome = createLogApplier(database);
  for (let first = 0; first < count; first += WRITE_CALLS) {
    const numbers = Array.from(
      { length: Math.min(WRITE_CALLS, count - first) },
      (_, i) => first + i,
    );
    database.exec('BEGIN');
    const write = writer.prepare(numbers.flatMap(changesOf));
    for (const step of writer.toSteps([write]).steps) run.step(step);
    write.calls.settle();
    database.exec('COMMIT');
    // Each time some of them, as the thread that writes does.
    for (let more = true; more; ) {
      const applied = applySome();
      overlay.applied(applied.upTo);
      ({ more } = applied);
    }
  }
  database.close();
}

/** The thread that writes does this with steps. */
function createRunner(database: DatabaseSync) {
  const statements: { prepared: StatementSync; sums: readonly Sum[] }[] = [];
  return {
    prepare(sql: string, sums: readonly Sum[] = []): number {
      return statements.push({ prepared: database.prepare(sql), sums }) - 1;
    },
    step([statement, given]: WriteStep): void {
      const values = [...given];
      const { prepared, sums } = statements[statement] ?? {};
      for (const { at, of } of sums ?? []) values[at] = rowChecksum(of.map((at) => values[at]));
      prepared?.run(...values);
    },
  };
}

function changesOf(number: number): Change[] {
  const at = BEGIN + number * APART_MS;
  const begin = newCall(
    {
      id: callId(number),
      runId: runOf(number),
      toolName: toolOf(number),
      source: 'client',
      toolProvider: 'clients',
      args: { place: `place ${number % 5_000}`, note: `look up number ${number} in berlin` },
      annotations: { readOnlyHint: true },
      timeoutMs: 30_000,
      routing: NO_ROUTING,
      wantedClientId: null,
      retryOf: null,
      requestedBy: 'operator',
      ownerToken: null,
      displayName: 'Look up',
    },
    at,
  );
  const batch = new EventBatch(begin, at);
  batch.addFirst(begin, 'operator');
  for (const event of eventsOf(number)) {
    const decision = decide(batch.record, event, { wall: at + 1, steady: at + 1 });
    if (!decision.ok) throw new Error(`${event.type}: ${decision.refusal}`);
    batch.add(event, 'server', decision);
  }
  const isFirst = number % CALLS_OF_RUN === 0;
  return isFirst ? [{ type: 'put_run', run: runAt(number, at) }, ...batch.changes] : batch.changes;
}

/** Nine of ten succeed. */
function eventsOf(number: number): CallEvent[] {
  const clientId = clientOf(number);
  const instanceId = `${clientId}_1`;
  const provider = { clientId, instanceId, attempt: 1, claims: false, journalEpoch: null };
  const from = { clientId, instanceId, attempt: 1 };
  const error =
    number % 10 === 0
      ? ({ code: 'tool_error', message: `no answer for ${number}`, executed: 'yes' } as const)
      : null;
  const result = { text: `the answer to ${number} is ${number * 7}`, hits: [number, number + 1] };
  return [
    { type: 'arguments_complete', check: 'allow' },
    { type: 'offered', provider, rerunnable: true },
    { type: 'answered', from, error, ...(error === null && { fields: { result } }) },
  ];
}

const runAt = (number: number, at: number): RunSummary => ({
  run_id: runOf(number),
  title: `Run of ${number}`,
  status: 'idle',
  model: null,
  tools: null,
  step: 0,
  max_steps: 20,
  error: null,
  created_at: at / 1_000,
  updated_at: (at + CALLS_OF_RUN * APART_MS) / 1_000,
});
