import type { DatabaseSync } from 'node:sqlite';
import type { CallEventEntry } from '#lib/call/call-event';
import type { CallRecord } from '#lib/call/call-record';
import { patchOf } from '#lib/call/fold';
import { BARE_CALL } from '#lib/call/new-call';
import { sameJson } from '#lib/json/equal';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { createApplyStatements } from '../apply-log.ts';
import { type LoggedCall, toCallRow, toLoggedCall } from '../call-table.ts';
import { fromLogTexts, toLogText } from '../log-text.ts';
import { positionOf } from '../store-mark.ts';
import { type OlderCallRow, readOlderCall } from './older-call.ts';
import { readOlderEvents } from './older-events.ts';
import {
  type CallCounts,
  COUNT_OLDER,
  countBy,
  countOlderCalls,
  hasOlderCalls,
  StoreNotMovedError,
} from './older-file.ts';

/** Of one transaction: what a kill takes back. */
const SLICE_CALLS = 500;
const SLICE_BYTES = 4 * 1024 * 1024;
/** Events of a call share a row, as those of one moment do, up to this. */
const ROW_CHARS = 64 * 1024;
const PROGRESS_MS = 3_000;

/**
 * Takes the calls of `tool_calls` and `call_events` over into the log, in the order in which they
 * were first written, each with its past and one event that has all of it. A slice is one
 * transaction and takes from the tables of before what it put into the log: so it goes on from
 * wherever it was ended.
 */
export function moveCalls(database: DatabaseSync, log: (note: string) => void): void {
  if (!hasOlderCalls(database)) return;
  const older = countOlderCalls(database.location());
  const left = countBy(database, COUNT_OLDER).calls;
  const all = older?.calls ?? left;
  database.exec('PRAGMA cache_size=-100000; PRAGMA wal_autocheckpoint=10000'); // A third of the time.
  const moveSome = createMover(database);
  let moved = all - left;
  let told = performance.now();
  for (let some = moveSome(); some > 0; some = moveSome()) {
    moved += some;
    if (performance.now() - told < PROGRESS_MS) continue;
    told = performance.now();
    log(`${moved} of ${all} calls are in the log (${Math.floor((100 * moved) / all)}%)`);
  }
  database.exec(`PRAGMA cache_size=-2000; PRAGMA wal_autocheckpoint=1000;
    PRAGMA wal_checkpoint(TRUNCATE)`);
  refuseIfFewer(countBy(database, COUNT_MOVED), older);
  log(`all ${all} calls are in the log`);
}

const COUNT_MOVED = `SELECT count(*) AS open,
  (SELECT count(*) FROM calls) + count(*) AS calls FROM open_calls`;

function refuseIfFewer(moved: CallCounts, older: CallCounts | undefined): void {
  if (!older || (moved.calls === older.calls && moved.open === older.open)) return;
  throw new StoreNotMovedError(
    `the log has ${moved.calls} calls, ${moved.open} of them open, and the older version had ${older.calls} and ${older.open}; go on with the older version`,
  );
}

/** Moves a slice; gives how many calls it had. */
function createMover(database: DatabaseSync): () => number {
  const next = database.prepare('SELECT * FROM tool_calls ORDER BY row_no LIMIT 1');
  const applied = database.prepare(`UPDATE meta SET value = (SELECT max(seq) FROM log)
    WHERE key = 'applied'`);
  const moveCall = createCallMover(database);
  return () => {
    let [calls, bytes] = [0, 0];
    database.exec('BEGIN IMMEDIATE');
    try {
      while (calls < SLICE_CALLS && bytes < SLICE_BYTES) {
        const row = next.get() as unknown; // The edge to SQL.
        if (row === undefined) break;
        bytes += moveCall(row as OlderCallRow);
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

function createCallMover(database: DatabaseSync): (row: OlderCallRow) => number {
  const past = database.prepare(
    'SELECT events FROM call_events WHERE call_id = ? ORDER BY version',
  );
  const waits = database.prepare('SELECT 1 FROM calls_to_index WHERE call_id = ?');
  const insert = database.prepare(`INSERT INTO log (seq, call_id, version, ends, events, checksum)
    VALUES (?1, ?2, ?3, ?4, ?5, row_checksum(?2, ?3, ?4, ?5))`);
  const written = database.prepare('SELECT events FROM log WHERE call_id = ? ORDER BY version');
  const removals = [
    'tool_calls WHERE id',
    'call_events WHERE call_id',
    'calls_to_index WHERE call_id',
  ].map((rows) => database.prepare(`DELETE FROM ${rows} = ?`));
  const apply = createApplyStatements(database);
  const textsOf = (statement: typeof past, id: string): string[] =>
    statement.all(id).map(({ events }) => String(events));
  let position = lastNumber(database);

  return (row) => {
    const call = readOlderCall(row);
    const { id } = call;
    const number = Number(row.row_no);
    const ends = isFinalStatus(call.status);
    const events = textsOf(past, id).flatMap((text) => readOlderEvents(text, call));
    // The first has the number of the call: by it lists are in order, and its words are found.
    for (const [place, { version, texts }] of toLogRows([...events, importOf(call)]).entries()) {
      if (place > 0) position += 1;
      const seq = place === 0 ? number : position;
      insert.run(seq, id, version, ends ? 1 : 0, `[${texts.join(',')}]`);
    }
    const logged = loggedAs(call, textsOf(written, id));
    if (!ends) apply.open(id);
    else {
      apply.list(toCallRow(number, logged));
      // Its words, and the blobs that it names.
      if (waits.get(id)) apply.ended(id, Number.POSITIVE_INFINITY);
    }
    for (const removal of removals) removal.run(id);
    return logged.bytes;
  };
}

/** Of all that were given to calls and commits. */
function lastNumber(database: DatabaseSync): number {
  const newest = database.prepare('SELECT max(row_no) AS number FROM tool_calls').get();
  return Math.max(positionOf(database), Number(newest?.number));
}

/** The event that has all of a call. */
function importOf(call: CallRecord): CallEventEntry {
  const { card, version } = call;
  const patch = patchOf(BARE_CALL, call);
  return { version: version + 1, type: 'imported', at: Date.now(), actor: 'server', patch, card };
}

function toLogRows(entries: readonly CallEventEntry[]): { version: number; texts: string[] }[] {
  const rows: { version: number; texts: string[] }[] = [];
  let chars = ROW_CHARS;
  for (const entry of entries) {
    const text = toLogText(entry);
    if (chars >= ROW_CHARS) {
      rows.push({ version: entry.version, texts: [] });
      chars = 0;
    }
    rows.at(-1)?.texts.push(text);
    chars += text.length;
  }
  return rows;
}

/** What the log has of a call, which must be the call. */
function loggedAs(call: CallRecord, texts: readonly string[]): LoggedCall {
  const bytes = texts.reduce((sum, text) => sum + text.length, 0);
  const logged = toLoggedCall(texts.flatMap(fromLogTexts), bytes);
  const expected = { ...call, version: call.version + 1 };
  if (logged && isSame(logged.call, expected)) return logged;
  throw new StoreNotMovedError(
    `the call ${call.id} of the older version is not the same in the log; go on with the older version`,
  );
}

/** Some numbers that JSON can write, and not hold, were kept as they came. */
const isSame = (a: CallRecord, b: CallRecord): boolean =>
  sameJson(a, b) || sameJson(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)));
