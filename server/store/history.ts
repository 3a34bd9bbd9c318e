import type { DatabaseSync } from 'node:sqlite';
import { type RawBuilder, sql } from 'kysely';
import { blobIdsIn } from './blob-ids.ts';
import type { CallHead, CallOverlay } from './call-overlay.ts';
import { fileSize } from './integrity/file-bytes.ts';
import type { ReadThread } from './read-thread.ts';
import type { EndedCall, IdleRun } from './store.ts';

/** In more texts blobs are not looked for one by one: whether one is used is said later. */
const MAX_SEARCHED = 1_000;
const MAX_CHARS = 16 * 1024 * 1024;
const MAX_PAGE = 200;

/** The index of their ends gives their order, so that nothing is read but what is given. */
export const oldestCallsQuery = (endedBefore: number, limit: number) =>
  sql<EndedCall>`select id, ended_at as endedAt, bytes from calls indexed by calls_by_end
    where ended_at < ${endedBefore} order by ended_at, call_no limit ${Math.min(limit, MAX_PAGE)}`;

interface IdleQuery {
  readonly changedBefore: number;
  readonly after: IdleRun | null;
  readonly limit: number;
}

type LookedAt = IdleRun & { hasCalls: 0 | 1; isRunning: 0 | 1 };

/** A run of other programs is not written when it is called in: so runs are looked at in pages. */
export const idleRunsQuery = (changedBefore: number, after: IdleRun | null, limit: number) =>
  sql<LookedAt>`select run_id as runId,
      updated_at as changedAt, status = 'running' as isRunning,
      exists (select 1 from calls where calls.run_id = runs.run_id) as hasCalls
    from runs indexed by runs_by_age
    where updated_at < ${changedBefore}
      and (updated_at, run_id) > (${after?.changedAt ?? 0}, ${after?.runId ?? ''})
    order by updated_at, run_id limit ${limit}`;

/** The texts of calls whose blobs are not noted yet: open ones, and those that are not applied. */
const textsQuery = (calls: readonly CallHead[], named: string) => sql<{ events: string }>`
  select events from json_each(${JSON.stringify(calls.map(({ id }) => id))}) as wanted
  cross join log on log.call_id = wanted.value where instr(events, ${named})`;

const notedOfQuery = (ownerToken: string, blobId: string) => sql<{ found: 1 }>`
  select 1 as found from blob_uses where blob_id = ${blobId} and (
    exists (select 1 from calls where id = user_id and owner_token = ${ownerToken})
    or exists (select 1 from messages join runs on runs.run_id = messages.run_id
      where message_id = user_id and owner ->> '$.token_id' = ${ownerToken})
  ) limit 1`;

export type History = ReturnType<typeof createHistory>;

/**
 * Retention sees what is kept by this, to delete the oldest of it (rules ST61 to ST66): all but
 * single values on the thread that reads.
 */
export function createHistory(deps: {
  readonly file: string;
  readonly database: DatabaseSync;
  readonly reader: Pick<ReadThread, 'rows'>;
  readonly overlay: CallOverlay;
  /** The table of calls has all that has ended, then. */
  catchUp(): Promise<void>;
}) {
  const { file, database, reader, overlay, catchUp } = deps;
  const ask = async <Row>(query: RawBuilder<Row>): Promise<Row[]> =>
    (await reader.rows(query)).rows;
  const notedBlobs = async (uses: RawBuilder<unknown>): Promise<string[]> => {
    const noted = sql<{ id: string }>`select distinct blob_id as id from blob_uses where ${uses}`;
    return (await ask(noted)).map(({ id }) => id);
  };
  /** The blobs that calls name which are not in the table; undefined while these are too many. */
  async function unnoted(): Promise<ReadonlySet<string> | undefined> {
    const calls = overlay.find(() => true);
    if (calls.length > MAX_SEARCHED) return undefined;
    const texts = await reader.rows(textsQuery(calls, 'blob_'), MAX_CHARS);
    return texts.isCut ? undefined : new Set(blobIdsIn(texts.rows.map(({ events }) => events)));
  }
  const upTo = database.prepare("SELECT value FROM meta WHERE key = 'deleted_up_to'");

  return {
    /**
     * `usedBytes`: of the database, what holds something; `freeBytes`: what later writes take before
     * the file grows; `logBytes`: of its log, which is begun anew again and again.
     */
    async size() {
      const [pages] = await ask(
        sql<Record<'usedBytes' | 'freeBytes', number>>`select
          (page_count - freelist_count) * page_size as usedBytes,
          freelist_count * page_size as freeBytes
          from pragma_page_count, pragma_freelist_count, pragma_page_size`,
      );
      const { usedBytes = 0, freeBytes = 0 } = pages ?? {};
      return { usedBytes, freeBytes, logBytes: fileSize(`${file}-wal`) ?? 0 };
    },

    /** Counts all calls: some 50 ms for a million of them. */
    async countCalls() {
      const ids = JSON.stringify(overlay.find(() => true).map(({ id }) => id));
      const [counted] = await ask(sql<{ calls: number }>`select count(*) + (
          select count(*) from json_each(${ids}) as known
          where not exists (select 1 from calls where id = known.value)
        ) as calls from calls`);
      return counted?.calls ?? 0;
    },

    /** Final calls, those that ended first. At most 200. */
    async oldestCalls({ endedBefore, limit }: { endedBefore: number; limit: number }) {
      await catchUp();
      return ask(oldestCallsQuery(endedBefore, limit));
    },

    /**
     * Runs that were last changed before, oldest first, without calls and turn; behind
     * the run `after` of the page before. Of `limit` runs that are looked at, those
     * that fit; `next` is null behind the last one.
     */
    async emptyRuns({ changedBefore, after, limit }: IdleQuery) {
      // Asked first, as in a list.
      const used = new Set(overlay.find(() => true).map(({ runId }) => runId));
      const looked = await ask(idleRunsQuery(changedBefore, after, limit));
      const runs = looked.flatMap(({ runId, changedAt, hasCalls, isRunning }) =>
        hasCalls === 0 && isRunning === 0 && !used.has(runId) ? [{ runId, changedAt }] : [],
      );
      const last = looked.length < limit ? undefined : looked.at(-1);
      return { runs, next: last ? { runId: last.runId, changedAt: last.changedAt } : null };
    },

    /** `userIds` are those of calls or messages. */
    async blobsOf(userIds: readonly string[]): Promise<string[]> {
      if (userIds.length === 0) return [];
      return notedBlobs(sql`user_id in (${sql.join(userIds)})`);
    },

    /** Gives those that nothing refers to; undefined as long as it cannot be said. */
    async unusedBlobs(blobIds: readonly string[]): Promise<string[] | undefined> {
      if (blobIds.length === 0) return [];
      // Asked first: what is applied meanwhile is noted.
      const others = await unnoted();
      if (!others) return undefined;
      const used = new Set(await notedBlobs(sql`blob_id in (${sql.join(blobIds)})`));
      return blobIds.filter((id) => !used.has(id) && !others.has(id));
    },

    /** Says whether a call, or a message, of the runs of this token's holder names the blob. */
    async isBlobOf(ownerToken: string, blobId: string) {
      const own = overlay.find((call) => call.ownerToken === ownerToken);
      const query = sql`select 1 from (${textsQuery(own, blobId)}) limit 1`;
      if ((await ask(query)).length > 0) return true;
      return (await ask(notedOfQuery(ownerToken, blobId))).length > 0;
    },

    /** Says whether `delete_audit` would delete any. */
    async hasAuditBefore(before: number) {
      const found = sql`select 1 from audit where at < ${before}
        and seq < (select max(seq) from audit) limit 1`;
      return (await ask(found)).length > 0;
    },

    /** The end of the newest call that was deleted; 0 when none was. */
    deletedUpTo: () => Number(upTo.get()?.value ?? 0),
  };
}
