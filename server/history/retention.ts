import { type Clock, pause } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { BlobFiles } from '../blobs/room.ts';
import type { EndedCall, IdleRun, Store } from '../store/room.ts';

/** How much is kept; without either, everything. */
export interface Keep {
  /** Calls that ended, and runs that were last changed, before so many days are deleted. */
  readonly days: number | undefined;
  /** The bytes of database and blobs together; beyond it what is oldest is deleted. */
  readonly bytes: number | undefined;
}

export interface RetentionDeps {
  readonly keep: Keep;
  readonly store: Pick<Store, 'write' | 'history'>;
  readonly blobs: BlobFiles;
  /** Forgets calls that are to be deleted; returns those that may be. */
  forgetCalls(ids: readonly string[]): string[];
  /** Lets `work` delete a run that is not in use; whether it did. */
  deleteRun(runId: string, work: () => Promise<void>): Promise<boolean>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
const FIRST_MS = 5_000;
const EVERY_MS = 60_000;
/** People look at what ended since, and its blobs may just have been put. */
const RECENT_MS = 10 * 60_000;
/** One write deletes no more. */
const SLICE_CALLS = 50;
const SLICE_BYTES = 2 * 1024 * 1024;
const PAGE_RUNS = 200;
const PAGE_BLOBS = 200;
/** A blob without a call may be named by an answer yet. */
const ORPHAN_MS = DAY_MS;
/** Runs and files are looked at one by one, so not each time. */
const SWEEP_EVERY_MS = 60 * 60_000;

/**
 * Deletes what is older than `keep.days`, and the oldest beyond `keep.bytes`, in
 * slices between which others write (rules ST61 to ST66). It can end between any
 * two steps: the next pass goes on from what is in the store.
 */
export class Retention {
  readonly #deps: RetentionDeps;
  #isStopped = false;
  #cancelTimer = () => {};
  #pass: Promise<void> = Promise.resolve();
  #sweepAt = 0;

  constructor(deps: RetentionDeps) {
    this.#deps = deps;
  }

  /** The first pass follows a moment after the start. */
  start(): void {
    const { days, bytes } = this.#deps.keep;
    if (days !== undefined || bytes !== undefined) this.#schedule(FIRST_MS);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer();
    await this.#pass;
  }

  #schedule(ms: number): void {
    if (this.#isStopped) return;
    this.#cancelTimer = this.#deps.clock.schedule(ms, () => {
      this.#pass = this.pass()
        .catch(this.#deps.logger.error)
        .then(() => this.#schedule(EVERY_MS));
    });
  }

  /** Deletes all that is to be deleted now. */
  async pass(): Promise<void> {
    const { keep, clock } = this.#deps;
    const recent = clock.now() - RECENT_MS;
    const tooOld = keep.days === undefined ? 0 : Math.min(recent, clock.now() - keep.days * DAY_MS);
    if (tooOld > 0) await this.#deleteCalls(tooOld, always);
    if (keep.bytes !== undefined) await this.#deleteCalls(recent, () => this.#isBeyond());
    if (this.#isStopped || clock.now() < this.#sweepAt) return;
    this.#sweepAt = clock.now() + SWEEP_EVERY_MS;
    await this.#sweep(recent, tooOld);
  }

  /** Deletes what calls that went have left: runs that are as old, and files that nothing refers to. */
  async #sweep(recent: number, tooOld: number): Promise<void> {
    const { keep, store } = this.#deps;
    if (tooOld > 0) await this.#deleteRuns(tooOld, always);
    if (keep.bytes !== undefined) {
      await this.#deleteRuns(Math.min(recent, store.history.deletedUpTo()), always);
      await this.#deleteRuns(recent, () => this.#isBeyond());
    }
    await this.#deleteAudit(
      keep.bytes === undefined
        ? tooOld
        : Math.max(tooOld, Math.min(recent, store.history.deletedUpTo())),
    );
    await this.#removeOrphans();
  }

  async #isBeyond(): Promise<boolean> {
    const { keep, store, blobs } = this.#deps;
    const { usedBytes } = await store.history.size();
    return usedBytes + (await blobs.size()) > (keep.bytes ?? Number.POSITIVE_INFINITY);
  }

  /** Deletes the calls that ended first, as long as `goesOn`. */
  async #deleteCalls(endedBefore: number, goesOn: () => Promise<boolean>): Promise<void> {
    const { history } = this.#deps.store;
    while (!this.#isStopped && (await goesOn())) {
      const slice = withinBytes(await history.oldestCalls({ endedBefore, limit: SLICE_CALLS }));
      const ids = this.#deps.forgetCalls(slice.map(({ id }) => id));
      const blobIds = await history.blobsOf(ids);
      // One that is being written has an end that is newer than it was: it is met again.
      if (ids.length === 0) return;
      const endedAt = slice.at(-1)?.endedAt ?? 0;
      await this.#write({ type: 'delete_calls', ids, endedAt });
      if (!(await this.#removeUnused(blobIds))) return;
    }
  }

  async #deleteRuns(changedBefore: number, goesOn: () => Promise<boolean>): Promise<void> {
    const { store, deleteRun } = this.#deps;
    let after: IdleRun | null = null;
    do {
      const { runs, next } = await store.history.emptyRuns({
        changedBefore,
        after,
        limit: PAGE_RUNS,
      });
      for (const { runId } of runs) {
        if (this.#isStopped || !(await goesOn())) return;
        await deleteRun(runId, () => this.#write({ type: 'delete_run', runId, changedBefore }));
      }
      after = next;
    } while (after !== null);
  }

  /** Entries that are as old as what else is deleted. */
  async #deleteAudit(before: number): Promise<void> {
    const { history } = this.#deps.store;
    while (!this.#isStopped && before > 0 && (await history.hasAuditBefore(before))) {
      await this.#write({ type: 'delete_audit', before });
    }
  }

  /** At most half of the time of the thread that writes. */
  async #write(change: Parameters<Store['write']>[0][number]): Promise<void> {
    const { store, clock } = this.#deps;
    const begin = clock.now();
    await store.write([change]);
    const tookMs = clock.now() - begin;
    if (tookMs > 0) await pause(clock, tookMs);
  }

  /** After their calls: a crash in between leaves files that `#removeOrphans` finds. False: not now. */
  async #removeUnused(blobIds: readonly string[]): Promise<boolean> {
    const { store, blobs, clock } = this.#deps;
    for (let first = 0; first < blobIds.length; first += PAGE_BLOBS) {
      const page = blobIds.slice(first, first + PAGE_BLOBS);
      const unused = await store.history.unusedBlobs(page);
      if (unused === undefined) return false;
      for (const id of unused) await blobs.remove(id, clock.now() - RECENT_MS);
    }
    return true;
  }

  /** Blobs that no call has come to name, and those whose calls went before a crash. */
  async #removeOrphans(): Promise<void> {
    const { blobs, clock } = this.#deps;
    let page: string[] = [];
    for await (const id of blobs.putBefore(clock.now() - ORPHAN_MS)) {
      page.push(id);
      if (page.length < PAGE_BLOBS) continue;
      if (this.#isStopped || !(await this.#removeUnused(page))) return;
      page = [];
    }
    await this.#removeUnused(page);
  }
}

const always = async () => true;

/** The first ones that are not too much for one write; one in any case. */
function withinBytes(calls: readonly EndedCall[]): EndedCall[] {
  let bytes = 0;
  return calls.filter((call, place) => {
    bytes += call.bytes;
    return place === 0 || bytes <= SLICE_BYTES;
  });
}
