import type { DatabaseSync } from 'node:sqlite';
import { decide } from '#lib/call/decide';
import { foldEvents, patchOf } from '#lib/call/fold';
import { fromLogRow, toLogText } from '../log-text.ts';
import { createLogReads } from '../read-log.ts';
import { positionOf } from '../store-mark.ts';
import { checksumsOf, insertRow } from './salvage-table.ts';

const MESSAGE =
  'The database was damaged, and what happened last to the call may be lost: it may have run';

const OPEN = `SELECT call_id FROM log AS newest WHERE ends = 0
  AND version = (SELECT max(version) FROM log WHERE log.call_id = newest.call_id)`;

/**
 * Ends the calls that are open in the log. What is lost may be that one was started, or ended, so
 * none of them may run from now on (rule ST85). Returns how many.
 */
export function endOpenCalls(store: DatabaseSync, now: number): number {
  const open = store.prepare(OPEN).all();
  const readLog = createLogReads(store);
  let seq = positionOf(store);
  for (const { call_id } of open) {
    const call = foldEvents(readLog(String(call_id)).flatMap(fromLogRow));
    if (!call) continue;
    const moment = { wall: now, steady: call.clockMark ?? now };
    const event = { type: 'interrupted', message: MESSAGE } as const;
    const decided = decide({ ...call, granted: true }, event, moment);
    if (!decided.ok) throw new Error(`the call ${call.id} cannot be ended: ${decided.refusal}`);
    const version = call.version + 1;
    const { shown } = decided;
    const patch = patchOf(call, decided.record);
    const entry = { version, type: event.type, at: now, actor: 'server', patch, shown };
    seq += 1;
    const row = { seq, call_id: call.id, version, ends: 1, events: `[${toLogText(entry)}]` };
    insertRow(store, 'log', { ...row, ...checksumsOf('log', row) });
  }
  return open.length;
}
