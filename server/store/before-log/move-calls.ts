import type { DatabaseSync } from 'node:sqlite';
import type { Call, CallFields } from '#lib/call/call';
import type { CallEventEntry, CallPatch, PublishedEvent } from '#lib/call/call-event';
import { foldEvents, patchOf } from '#lib/call/fold';
import { BARE_CALL } from '#lib/call/new-call';
import { sameJson } from '#lib/json/equal';
import type { CardUpdate } from '#lib/protocol/card';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { given } from '#lib/util/given';
import { createApplyStatements } from '../apply-log.ts';
import { type LoggedCall, toCallRow, toLoggedCall } from '../call-table.ts';
import { fromLogTexts, toLogText } from '../log-text.ts';
import { type OlderCallRow, readOlderCall } from './older-call.ts';
import {
  COUNT_OLDER,
  countBy,
  countOlderCalls,
  hasOlderCalls,
  StoreNotMovedError,
} from './older-file.ts';

/** A transaction has at most so much: a kill takes it back. */
const SLICE_CALLS = 500;
const SLICE_BYTES = 4 * 1024 * 1024;
const PROGRESS_MS = 3_000;

const COUNT_MOVED = `SELECT count(*) AS open,
  (SELECT count(*) FROM calls) + count(*) AS calls FROM open_calls`;

/**
 * Takes the calls of `tool_calls` and `call_events` over into the log, in the order in which they
 * were first written. A slice is one transaction and takes from the tables of before what it put
 * into the log: so it goes on from wherever it was ended.
 */
export function moveCalls(database: DatabaseSync, log: (note: string) => void): void {
  if (!hasOlderCalls(database)) return;
  const left = countBy(database, COUNT_OLDER);
  const older = countOlderCalls(database.location());
  const { calls: all } = older ?? left;
  // The same pages are written again and again.
  database.exec('PRAGMA cache_size=-100000; PRAGMA wal_autocheckpoint=10000');
  const moveSome = createMover(database);
  let moved = all - left.calls;
  let published = performance.now();
  for (let some = moveSome(); some > 0; some = moveSome()) {
    moved += some;
    if (performance.now() - published < PROGRESS_MS) continue;
    published = performance.now();
    log(`${moved} of ${all} calls are in the log (${Math.floor((100 * moved) / all)}%)`);
  }
  database.exec(`PRAGMA cache_size=-2000; PRAGMA wal_autocheckpoint=1000;
    PRAGMA wal_checkpoint(TRUNCATE)`);
  const now = countBy(database, COUNT_MOVED);
  if (older && (now.calls !== older.calls || now.open !== older.open)) {
    throw new StoreNotMovedError(
      `the log has ${now.calls} calls, ${now.open} of them open, and the older version had ${older.calls} and ${older.open}; go on with the older version`,
    );
  }
  log(`all ${all} calls are in the log`);
}

/** Moves a slice; gives how many calls it had. */
function createMover(database: DatabaseSync): () => number {
  const next = database.prepare('SELECT * FROM tool_calls ORDER BY row_no LIMIT 1');
  const moveCall = createCallMover(database);
  const applied = database.prepare(`UPDATE meta SET value = (SELECT max(seq) FROM log)
    WHERE key = 'applied'`);
  return () => {
    let [calls, bytes] = [0, 0];
    database.exec('BEGIN IMMEDIATE');
    try {
      while (calls < SLICE_CALLS && bytes < SLICE_BYTES) {
        const row = next.get();
        if (row === undefined) break;
        bytes += moveCall(row);
        calls += 1;
      }
      applied.run();
      database.exec('COMMIT');
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
    return calls;
  };
}

/** Moves a call: its past and one event that has all of it, as a row; gives how long that is. */
function createCallMover(database: DatabaseSync): (row: OlderCallRow) => number {
  const past = database.prepare(
    'SELECT events FROM call_events WHERE call_id = ? ORDER BY version',
  );
  const waits = database.prepare('SELECT 1 FROM calls_to_index WHERE call_id = ?');
  const insert = database.prepare(`INSERT INTO log (seq, call_id, version, ends, events, checksum)
    VALUES (?1, ?2, ?3, ?4, ?5, row_checksum(?2, ?3, ?4, ?5))`);
  const removals = [
    'tool_calls WHERE id',
    'call_events WHERE call_id',
    'calls_to_index WHERE call_id',
  ];
  const remove = removals.map((rows) => database.prepare(`DELETE FROM ${rows} = ?`));
  const apply = createApplyStatements(database);

  return (row) => {
    const call = readOlderCall(row);
    const { id, card, version } = call;
    const events = past.all(id).flatMap(({ events }) => readOlderEvents(String(events), call));
    const patch = patchOf(BARE_CALL, call);
    const by = { type: 'imported', at: Date.now(), actor: 'server' };
    const entries = [...events, { version: version + 1, ...by, patch, card }];
    const text = `[${entries.map(toLogText).join(',')}]`;
    const ends = isFinalStatus(call.status);
    const logged = loggedAs(call, text);
    // It has the number of the call: by it lists are in order, and its words are found.
    const number = Number(row.row_no);
    insert.run(number, id, entries[0]?.version ?? 1, ends ? 1 : 0, text);
    if (ends) apply.list(toCallRow(number, logged));
    else apply.open(id);
    // Its words, and the blobs that it names.
    if (ends && waits.get(id)) apply.ended(id, number);
    for (const one of remove) one.run(id);
    return text.length;
  };
}

/** Folds what the log has of a call, which must be the call. */
function loggedAs(call: Call, text: string): LoggedCall {
  const entries = fromLogTexts(text);
  const inLog = foldEvents(entries);
  const expected = { ...call, version: call.version + 1 };
  if (inLog && isSame(inLog, expected)) return toLoggedCall(entries, text.length);
  throw new StoreNotMovedError(
    `the call ${call.id} of the older version is not the same in the log; go on with the older version`,
  );
}

/** Some numbers that JSON can write, and not hold, were kept as they came. */
const isSame = (a: Call, b: Call): boolean =>
  sameJson(a, b) || sameJson(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)));

/** An event as `call_events` has it. */
type OlderEvent = Omit<PublishedEvent, 'published' | 'card' | 'shown'> & {
  /** The patch has these of the row of its call. */
  readonly in_row?: readonly ('result' | 'display')[];
  /** By places in `SHOWN`, what the update has of the patch. */
  readonly shows?: readonly number[];
};

const SHOWN = [
  ['params', 'args'],
  ['result', 'result'],
  ['result', 'display'],
  ['preview', 'preview'],
  ['error', 'error'],
  ['attachments', 'attachments'],
] as const satisfies readonly (readonly [keyof CardUpdate, keyof CallPatch])[];

/**
 * The events of a row of `call_events`. What people were shown of them is told; of what they changed
 * the phase alone is kept, as the event that imports the call has the rest.
 */
const readOlderEvents = (text: string, call: Call): CallEventEntry[] =>
  (JSON.parse(text) as OlderEvent[]).map((event) => toEntry(event, call));

function toEntry(event: OlderEvent, call: Call): CallEventEntry {
  const { version, type, at, actor, via, attempt, patch, in_row = [], shows = [] } = event;
  const all: Record<string, unknown> = { ...patch };
  const whole: CallFields = call;
  for (const name of in_row) all[name] = whole[name];
  const update: Record<string, unknown> = { ...event.update };
  for (const place of shows) {
    const [name, value] = SHOWN[place] ?? ['params', 'args'];
    update[name] = all[value];
  }
  const kept = patch.phase === undefined ? {} : { phase: patch.phase };
  return {
    version,
    type,
    at,
    actor,
    ...given({ via }),
    patch: kept,
    published: { attempt, update },
  };
}
