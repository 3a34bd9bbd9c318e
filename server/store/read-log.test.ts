import { DatabaseSync } from 'node:sqlite';
import type { RawBuilder } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import type { CallEventEntry } from '#lib/call/call-event';
import { firstEntryOf, foldEvents, toPublished } from '#lib/call/fold';
import { sampleCall } from '#lib/call/testing/sample-call';
import { compileQuery } from './compile-query.ts';
import { firstRows } from './first-rows.ts';
import { toLogText } from './log-text.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations.ts';
import { createLogReader } from './read-log.ts';
import { defineRowChecksum } from './row-checksum.ts';

/** A call that tells of its work and shows a preview now and then, an event a row. */
const entriesOf = (count: number): CallEventEntry[] =>
  Array.from({ length: count }, (_, index) => {
    const common = { version: index + 1, at: index, actor: 'server' };
    if (index === 0) return { ...common, type: 'created', patch: firstEntryOf(sampleCall()).patch };
    const shown = { tip: `${index} of ${count}, ${'.'.repeat(150)}` };
    const isSeen = index === 20;
    return {
      ...common,
      type: index === count - 1 ? 'extended' : 'status',
      patch: isSeen ? { preview: 'so far' } : {},
      shown: isSeen ? { ...shown, preview_bytes: 20_000, truncated: true, preview: 'so' } : shown,
    };
  });

function setup(count: number) {
  const database = new DatabaseSync(':memory:');
  onTestFinished(() => database.close());
  defineRowChecksum(database);
  migrate(database, MIGRATIONS);
  const insert = database.prepare(
    'INSERT INTO log VALUES (?1, ?2, ?3, ?4, ?5, row_checksum(?2, ?3, ?4, ?5))',
  );
  const entries = entriesOf(count);
  for (const [seq, entry] of entries.entries()) {
    insert.run(seq + 1, 'tc_1', entry.version, 0, `[${toLogText(entry)}]`);
  }
  const read: number[] = [];
  const log = createLogReader(database, {
    async rows<Row>(query: RawBuilder<Row>, maxChars = Number.POSITIVE_INFINITY) {
      const { sql, values } = compileQuery(query);
      const rows = database.prepare(sql).all(...values);
      const page = firstRows(rows as (object & Row)[], maxChars);
      read.push(page.rows.length);
      return page;
    },
  });
  return { database, entries, log, read };
}

/** What it gives, and how many turns others had meanwhile. */
async function withTurns<T>(work: () => Promise<T>) {
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  const result = await work();
  clearImmediate(next);
  return { result, turns };
}

test('[ST44] a call of 2,000 events is folded in turns, and one of few in none', async () => {
  const short = setup(20);
  const few = await withTurns(() => short.log.call('tc_1'));
  expect(few).toEqual({ result: foldEvents(short.entries), turns: 0 });
  const long = setup(2_000);
  const many = await withTurns(() => long.log.call('tc_1'));
  expect(many.result).toEqual(foldEvents(long.entries));
  expect(many.turns).toBeGreaterThanOrEqual(3);
});

test('[ST44] a page of events near the end of a long log is read as quickly as the first one', async () => {
  const { entries, log, read } = setup(2_000);
  const published = toPublished(entries);
  for (const after of [0, 1_900, 21]) {
    const page = await log.events('tc_1', { after, limit: 100 });
    expect(page).toEqual(published.slice(after, after + 100));
  }
  // The first event, the preview, and the last row before the page.
  expect(read).toEqual([100, 103, 102]);
});

test('[ST44] a call that is deleted while it is read is not there', async () => {
  const { database, log } = setup(2_000);
  const reading = log.call('tc_1');
  database.exec('DELETE FROM log');
  expect(await reading).toBeUndefined();
});
