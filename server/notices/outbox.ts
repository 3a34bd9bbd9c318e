import { z } from 'zod';
import type { Call } from '#lib/call/call';
import type { Notice } from '#lib/protocol/notice';
import type { WireTargets } from '#lib/protocol/notify';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Change, DeliveryQuery, DeliveryRecord, Store } from '../store/room.ts';
import { Lane, type LaneState, MOST_OPEN, OFF_AREA } from './lane.ts';
import type { AnnounceCall, Announcement, AnnounceRun } from './notice-drafts.ts';
import { draftsOfCall, draftsOfRun, type NoticeDraft, TEST_DRAFT } from './notice-drafts.ts';
import { MOST_ATTEMPTS } from './schedule.ts';
import type { Outcome, Target, TargetSource } from './target.ts';

const markSchema = z.object({ off: z.literal(true), fingerprint: z.string().optional() });

/**
 * Which targets an earlier server left off, by their ids, with the time. The mark of a name that is
 * not there any more, or that leads elsewhere now, is deleted (rule OB27).
 */
async function readOffTargets(
  store: Pick<Store, 'write' | 'listKept'>,
  find: (id: string) => Target | undefined,
): Promise<ReadonlyMap<string, number>> {
  const kept = await store.listKept(OFF_AREA);
  const isMeant = ({ key, value }: (typeof kept)[number]): boolean => {
    const target = find(key);
    if (!target) return false;
    const { fingerprint } = markSchema.parse(value);
    // One that an older version wrote has none.
    return fingerprint === undefined || fingerprint === target.fingerprint;
  };
  const [meant, stale] = [kept.filter(isMeant), kept.filter((one) => !isMeant(one))];
  if (stale.length > 0) {
    await store.write(stale.map(({ key }) => ({ type: 'delete_kept', area: OFF_AREA, key })));
  }
  return new Map(meant.map(({ key, putAt }) => [key, putAt]));
}

export interface OutboxDeps {
  readonly store: Pick<Store, 'write' | 'listKept' | 'deliveries'>;
  readonly clock: Clock;
  readonly newId: (prefix: 'evt' | 'dlv') => string;
  readonly sources: readonly TargetSource[];
  /** A call as it is now; for what is not worth sending any more. */
  call(id: string): Promise<Call | undefined>;
  /** Called for each attempt, and for each delivery that ended without one. */
  counted?(target: string, outcome: Outcome['kind'] | DeliveryRecord['state']): void;
  /** Default: Math.random. */
  random?(): number;
  readonly logger: Logger;
}

export interface ListedTarget extends LaneState, Pick<Target, 'id'> {
  readonly shown: NonNullable<Target['shown']>;
}

/** People see and act on notices that leave the server by this. */
export type NotifyService = Pick<
  Outbox,
  'limits' | 'targets' | 'deliveries' | 'resend' | 'test' | 'enable'
>;

/** Deliveries that may wait for all targets together. */
export const MOST_OPEN_IN_ALL = 10_000;
const DAY_MS = 86_400_000;
/** Deliveries that have ended are kept within these bounds. */
const KEPT = { days: 14, count: 5_000 } as const;
const TIDY_EVERY_MS = 3_600_000;
/** At the latest after so many were written, so that a flood does not fill the disk. */
const TIDY_AFTER = 400;

/**
 * Notices on their way out (rules OB1 to OB29). Each is stored for each target that wants it, in
 * the write of the change that it reports, and is sent from there until the target has taken it.
 */
export class Outbox {
  readonly #deps: OutboxDeps;
  readonly #lanes = new Map<string, Lane>();
  /** Targets that wanted no more before this start. */
  #offAtStart: ReadonlyMap<string, number> = new Map();
  readonly limits: WireTargets['limits'] = {
    open_per_target: MOST_OPEN,
    attempts: MOST_ATTEMPTS,
    kept_days: KEPT.days,
    kept: KEPT.count,
  };
  readonly #drops: DropLog;
  #isRunning = false;
  #written = 0;
  #cancelTidy = () => {};

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
    this.#drops = new DropLog(deps);
  }

  /** Takes up what an earlier server left. Once, before anything is announced. */
  async load(): Promise<void> {
    const { store } = this.#deps;
    const [open, off] = await Promise.all([
      store.deliveries.open(),
      readOffTargets(store, (id) => this.#find(id)),
    ]);
    this.#offAtStart = off;
    for (const delivery of open) this.#laneOf(delivery.target).add(delivery);
    this.#keepWithinBound();
  }

  /** From now on what waits is sent. */
  start(): void {
    this.#isRunning = true;
    for (const lane of this.#lanes.values()) lane.start();
    this.#tidy();
  }

  /** Attempts that are on their way are cut off, and go on with the next start. */
  stop(): void {
    this.#isRunning = false;
    this.#cancelTidy();
    for (const lane of this.#lanes.values()) lane.stop();
    this.#drops.flush();
  }

  readonly announceCall: AnnounceCall = (call, previous) =>
    this.#isWanted() ? this.#announce(draftsOfCall(call, previous)) : undefined;

  readonly announceRun: AnnounceRun = (run, previous) =>
    this.#isWanted() ? this.#announce(draftsOfRun(run, previous)) : undefined;

  /** In a write of its own. */
  async send(draft: NoticeDraft): Promise<void> {
    const announced = this.#announce([draft]);
    if (!announced) return;
    await this.#deps.store.write(announced.changes);
    announced.written();
  }

  targets(): ListedTarget[] {
    return this.#targets().flatMap(({ id, shown }) =>
      shown === undefined ? [] : [{ ...this.#laneOf(id).state(), id, shown }],
    );
  }

  /** Newest first. */
  deliveries(query: DeliveryQuery) {
    return this.#deps.store.deliveries.list(query);
  }

  /** Sends it as a new one, with the same id of the notice; one that is open is tried now. Undefined: there is none. */
  async resend(id: string): Promise<DeliveryRecord | undefined> {
    const { store, clock } = this.#deps;
    const stored = await store.deliveries.get(id);
    if (!stored || this.#isPersonal(stored.target)) return undefined;
    const at = clock.now();
    const open = this.#laneOf(stored.target).hurry(id, at);
    if (open || stored.state === 'open') return open ?? stored;
    const anew = { state: 'open', attempts: 0, nextAt: at, endedAt: null } as const;
    return this.#put({ ...stored, ...anew });
  }

  /** Sends a notice that says that it is a test. Undefined: there is no such target. */
  async test(targetId: string): Promise<DeliveryRecord | undefined> {
    if (!this.#find(targetId) || this.#isPersonal(targetId)) return undefined;
    return this.#put(this.#deliveryOf(targetId, this.#noticeOf(TEST_DRAFT)));
  }

  /** False: there is no such target. */
  async enable(targetId: string): Promise<boolean> {
    if (!this.#find(targetId) || this.#isPersonal(targetId)) return false;
    await this.#deps.store.write([{ type: 'delete_kept', area: 'notify_target', key: targetId }]);
    this.#laneOf(targetId).enable();
    return true;
  }

  /** A target is one person's browser: what others do to targets is not done to it. */
  #isPersonal(id: string): boolean {
    const target = this.#find(id);
    return target !== undefined && target.shown === undefined;
  }

  /** A server without targets pays for nothing else. */
  #isWanted(): boolean {
    return this.#deps.sources.some((source) => source.list().length > 0);
  }

  #announce(drafts: readonly NoticeDraft[]): Announcement | undefined {
    if (drafts.length === 0) return undefined;
    const targets = this.#targets().filter(({ id }) => !this.#laneOf(id).isOff);
    const made = drafts
      .map((draft) => this.#noticeOf(draft))
      .flatMap((notice) =>
        targets
          .filter((one) => one.wants(notice) && (one.admit?.(notice) ?? true))
          .map(({ id }) => this.#deliveryOf(id, notice)),
      );
    if (made.length === 0) return undefined;
    return {
      changes: made.map(putDelivery),
      written: () => {
        for (const delivery of made) this.#laneOf(delivery.target).add(delivery);
        this.#keepWithinBound();
        this.#count(made.length);
      },
    };
  }

  /** A person asked for it: it is tried at once. */
  async #put(delivery: DeliveryRecord): Promise<DeliveryRecord> {
    await this.#deps.store.write([putDelivery(delivery)]);
    this.#laneOf(delivery.target).add(delivery, true);
    this.#keepWithinBound();
    this.#count(1);
    return delivery;
  }

  #noticeOf(draft: NoticeDraft): Notice {
    const { newId, clock } = this.#deps;
    return { id: newId('evt'), at: clock.now(), ...draft };
  }

  #deliveryOf(target: string, notice: Notice): DeliveryRecord {
    return {
      id: this.#deps.newId('dlv'),
      target,
      notice,
      state: 'open',
      attempts: 0,
      madeAt: notice.at,
      triedAt: null,
      nextAt: notice.at,
      endedAt: null,
      status: null,
      error: null,
    };
  }

  #targets(): Target[] {
    return this.#deps.sources.flatMap((source) => source.list());
  }

  #find(id: string): Target | undefined {
    return this.#targets().find((target) => target.id === id);
  }

  #laneOf(id: string): Lane {
    const known = this.#lanes.get(id);
    if (known) return known;
    const { store, clock, logger, call, counted, random = Math.random } = this.#deps;
    const lane = new Lane(
      {
        id,
        clock,
        logger,
        random,
        write: (changes) => store.write(changes, MAY_WAIT),
        target: () => this.#find(id),
        isObsolete: ({ notice }) => isObsolete(notice, call),
        counted: (outcome) => {
          counted?.(id, outcome);
          if (outcome === 'dropped') this.#drops.note(this.#isPersonal(id) ? 'browsers' : id);
        },
      },
      this.#offAtStart.get(id) ?? null,
    );
    this.#lanes.set(id, lane);
    if (this.#isRunning) lane.start();
    return lane;
  }

  /** Where too many wait in all, the oldest of the target that has the most gives way (rule OB26). */
  #keepWithinBound(): void {
    const lanes = [...this.#lanes.values()];
    let over = lanes.reduce((sum, { open }) => sum + open, 0) - MOST_OPEN_IN_ALL;
    for (; over > 0; over -= 1) {
      const fullest = lanes.reduce((a, b) => (b.open > a.open ? b : a));
      if (!fullest.dropOldest()) return;
    }
  }

  #count(written: number): void {
    this.#written += written;
    if (this.#written >= TIDY_AFTER) this.#tidy();
  }

  /** Deliveries that ended long ago go; and lanes of targets that are not there any more. */
  #tidy(): void {
    if (!this.#isRunning) return;
    const { store, clock, logger } = this.#deps;
    this.#written = 0;
    this.#cancelTidy();
    this.#cancelTidy = clock.schedule(TIDY_EVERY_MS, () => this.#tidy());
    for (const [id, lane] of this.#lanes) {
      if (lane.state().open === 0 && !this.#find(id)) this.#lanes.delete(id);
    }
    const endedBefore = clock.now() - KEPT.days * DAY_MS;
    store
      .write([{ type: 'delete_deliveries', endedBefore, most: KEPT.count }], MAY_WAIT)
      .catch(logger.error);
  }
}

const MAY_WAIT = { mayWait: true };

const putDelivery = (delivery: DeliveryRecord): Change => ({ type: 'put_delivery', delivery });

/** A request for an approval that does not wait any more. */
async function isObsolete({ type, data }: Notice, call: OutboxDeps['call']): Promise<boolean> {
  if (type !== 'approval.requested') return false;
  return (await call(data.tool_call_id))?.phase !== 'approval';
}

const GATHERED_MS = 10_000;

/** Drops are told in one line for many: a flood of notices is no flood of lines. */
class DropLog {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #counts = new Map<string, number>();
  #cancel = () => {};

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
  }

  note(target: string): void {
    if (this.#counts.size === 0)
      this.#cancel = this.#clock.schedule(GATHERED_MS, () => this.flush());
    this.#counts.set(target, (this.#counts.get(target) ?? 0) + 1);
  }

  /** At once what would be written later. */
  flush(): void {
    this.#cancel();
    if (this.#counts.size === 0) return;
    const counts = [...this.#counts].map(([target, count]) => `${count} to ${target}`);
    this.#counts.clear();
    this.#logger.info(
      `Deliveries of notices were dropped, since too many waited: ${counts.join(', ')}`,
    );
  }
}
