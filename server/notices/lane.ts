import { abortable } from '#lib/util/abortable';
import { given } from '#lib/util/given';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { ATTEMPT_MS } from '../base/post-once.ts';
import type { Change, DeliveryRecord } from '../store/room.ts';
import { LONGEST_WAIT_MS, slowFor, waitAfter } from './schedule.ts';
import { NO_ANSWER, type Outcome, type Target } from './target.ts';

export interface LaneDeps {
  readonly clock: Clock;
  /** From 0 to 1. */
  random(): number;
  /** Undefined: it is not there any more. */
  target(): Target | undefined;
  /** Says whether there is no sense in sending it any more. */
  isObsolete(delivery: DeliveryRecord): Promise<boolean>;
  /** Resolves when it is on disk. */
  write(changes: readonly Change[]): Promise<void>;
  /** Called for each attempt, and for each end without one. */
  counted(outcome: Outcome['kind'] | DeliveryRecord['state']): void;
  readonly id: string;
  readonly logger: Logger;
}

export interface LaneState {
  readonly open: number;
  readonly failuresInRow: number;
  readonly slowedUntil: number | null;
  readonly offSince: number | null;
}

/** Deliveries that may wait for one target. */
export const MOST_OPEN = 1_000;
/** Attempts to one target at a time. */
const MOST_IN_FLIGHT = 4;

/** Targets that are off: kept by their ids, over restarts. */
export const OFF_AREA = 'notify_target';

/** A receiver says by these that it has too much to do. */
const SLOW_DOWN = [429, 502, 503, 504];

/** The deliveries to one target: when each is sent, and what becomes of it (rules OB5 to OB14, OB25). */
export class Lane {
  readonly #deps: LaneDeps;
  readonly #open = new Map<string, DeliveryRecord>();
  readonly #inFlight = new Map<string, AbortController>();
  /** A person wants these tried now, whatever the target has answered before. */
  readonly #asked = new Set<string>();
  #isRunning = false;
  #failures = 0;
  #slowed = 0;
  #slowedUntil = 0;
  #offSince: number | null;
  #cancelTimer = () => {};

  constructor(deps: LaneDeps, offSince: number | null) {
    this.#deps = deps;
    this.#offSince = offSince;
  }

  get isOff(): boolean {
    return this.#offSince !== null;
  }

  state(): LaneState {
    const isSlowed = this.#slowedUntil > this.#deps.clock.now();
    return {
      open: this.#open.size,
      failuresInRow: this.#failures,
      offSince: this.#offSince,
      slowedUntil: isSlowed ? this.#slowedUntil : null,
    };
  }

  get open(): number {
    return this.#open.size;
  }

  /** It is on disk. Where too many wait already, the oldest gives way. `isAsked`: by a person. */
  add(delivery: DeliveryRecord, isAsked = false): void {
    this.#open.set(delivery.id, delivery);
    if (isAsked) this.#asked.add(delivery.id);
    if (this.#open.size > MOST_OPEN) this.dropOldest();
    this.#pump();
  }

  /** False: all that is open is on its way. */
  dropOldest(): boolean {
    const oldest = this.#open.values().find(({ id }) => !this.#inFlight.has(id));
    if (oldest) this.#end(oldest, 'dropped');
    return oldest !== undefined;
  }

  start(): void {
    this.#isRunning = true;
    this.#pump();
  }

  /** Attempts that are on their way are cut off, and made again by the next start. */
  stop(): void {
    this.#isRunning = false;
    this.#cancelTimer();
    for (const controller of this.#inFlight.values()) controller.abort();
  }

  /** One that is still open is tried now; undefined: there is none of that id. */
  hurry(id: string, at: number): DeliveryRecord | undefined {
    const delivery = this.#open.get(id);
    if (!delivery || this.#inFlight.has(id)) return delivery;
    const now = { ...delivery, nextAt: at };
    this.#open.set(id, now);
    this.#asked.add(id);
    this.#pump();
    return now;
  }

  /** A person turned it on again. */
  enable(): void {
    this.#offSince = null;
    this.#recovered();
    this.#pump();
  }

  #recovered(): void {
    [this.#failures, this.#slowed, this.#slowedUntil] = [0, 0, 0];
  }

  /** The delivery whose time comes first of those that are not on their way: of 1,000 at most. */
  #first(now: number): Due | undefined {
    let first: Due | undefined;
    for (const delivery of this.#open.values()) {
      if (this.#inFlight.has(delivery.id)) continue;
      const at = dueAt(delivery, now);
      if (!first || at < first.at || (at === first.at && delivery.id < first.delivery.id)) {
        first = { delivery, at };
      }
    }
    return first;
  }

  #pump(): void {
    this.#cancelTimer();
    if (!this.#isRunning) return;
    this.#tryAsked();
    // A delivery to a target that is not there any more ends, whether it was off or not.
    if (this.isOff && this.#deps.target()) return;
    const now = this.#deps.clock.now();
    // One at a time, until the target has taken one again.
    const most = this.#slowed > 0 ? 1 : MOST_IN_FLIGHT;
    // Where so many are on their way, the end of one brings the next.
    while (this.#inFlight.size < most) {
      const next = this.#first(now);
      if (!next) return;
      if (next.at > now || this.#slowedUntil > now) return this.#wakeAt(next.at, now);
      void this.#attempt(next.delivery, false);
    }
  }

  /** Also where the target is off or left alone: a person wants to see what it answers. */
  #tryAsked(): void {
    for (const id of this.#asked) {
      if (this.#inFlight.size >= MOST_IN_FLIGHT) return;
      this.#asked.delete(id);
      const delivery = this.#open.get(id);
      if (delivery && !this.#inFlight.has(id)) void this.#attempt(delivery, true);
    }
  }

  #wakeAt(at: number, now: number): void {
    const waitMs = Math.max(at, this.#slowedUntil) - now;
    const bounded = Math.min(Math.max(waitMs, 0), LONGEST_WAIT_MS);
    this.#cancelTimer = this.#deps.clock.schedule(bounded, () => this.#pump());
  }

  async #attempt(delivery: DeliveryRecord, isAsked: boolean): Promise<void> {
    const { clock } = this.#deps;
    const controller = new AbortController();
    const { signal } = controller;
    this.#inFlight.set(delivery.id, controller);
    const cancelLimit = clock.schedule(ATTEMPT_MS, () => controller.abort());
    const at = clock.now();
    const became = await this.#send(delivery, at, signal).catch((error: unknown) =>
      this.#failedInside(error, signal),
    );
    cancelLimit();
    this.#inFlight.delete(delivery.id);
    if (!this.#isRunning) return;
    if (typeof became === 'string') this.#end(delivery, became);
    else {
      const tried = { ...delivery, attempts: delivery.attempts + 1, triedAt: at };
      this.#settle(tried, became, isAsked);
    }
    this.#pump();
  }

  async #send(delivery: DeliveryRecord, at: number, signal: AbortSignal): Promise<Became> {
    const { target, isObsolete } = this.#deps;
    const to = target();
    if (!to) return 'removed';
    if (await isObsolete(delivery)) return 'obsolete';
    const { id: deliveryId, notice } = delivery;
    return abortable(signal, to.send({ deliveryId, notice, at, signal }));
  }

  #failedInside(error: unknown, signal: AbortSignal): Outcome {
    if (signal.aborted) return { kind: 'failed', status: null, reason: NO_ANSWER };
    this.#deps.logger.error(error, `a notice could not be sent to ${this.#deps.id}`);
    return { kind: 'failed', status: null, reason: 'a defect, which the log has' };
  }

  #settle(tried: DeliveryRecord, outcome: Outcome, isAsked: boolean): void {
    const delivery = { ...tried, status: outcome.status, error: null };
    this.#deps.counted(outcome.kind);
    if (outcome.kind === 'delivered') {
      this.#recovered();
      this.#finish(delivery, 'delivered', isAsked ? this.#turnOn() : []);
    } else if (outcome.kind === 'gone') this.#turnOff({ ...delivery, error: outcome.reason });
    else this.#failed({ ...delivery, error: outcome.reason }, outcome);
  }

  /** It took what a person had sent to it, so it wants notices again. */
  #turnOn(): Change[] {
    if (!this.isOff) return [];
    this.#offSince = null;
    return [{ type: 'delete_kept', area: OFF_AREA, key: this.#deps.id }];
  }

  /** Nothing more is sent to it by itself. */
  #turnOff(delivery: DeliveryRecord): void {
    this.#failures += 1;
    const target = this.#deps.target();
    // Nothing is kept of one that is not there any more.
    if (!target || this.isOff) return this.#finish(delivery, 'failed');
    const putAt = this.#deps.clock.now();
    this.#offSince = putAt;
    const value = { off: true, ...given({ fingerprint: target.fingerprint }) };
    const entry = { area: OFF_AREA, key: this.#deps.id, value, putAt } as const;
    this.#finish(delivery, 'failed', [{ type: 'put_kept', entry }]);
  }

  #failed(delivery: DeliveryRecord, { status, retryAfterMs = 0 }: Failure): void {
    const { clock, random } = this.#deps;
    const now = clock.now();
    this.#failures += 1;
    if (status !== null && SLOW_DOWN.includes(status)) {
      this.#slowed += 1;
      this.#slowedUntil = now + Math.max(retryAfterMs, slowFor(this.#slowed));
    }
    const wait = waitAfter(delivery.attempts, random());
    if (wait === undefined) return this.#finish(delivery, 'failed');
    const again = { ...delivery, nextAt: now + Math.max(wait, retryAfterMs) };
    this.#open.set(again.id, again);
    this.#write(again);
  }

  /** Without an attempt. */
  #end(delivery: DeliveryRecord, state: Exclude<DeliveryRecord['state'], 'open'>): void {
    this.#deps.counted(state);
    this.#finish(delivery, state);
  }

  #finish(
    delivery: DeliveryRecord,
    state: Exclude<DeliveryRecord['state'], 'open'>,
    more: readonly Change[] = [],
  ): void {
    this.#open.delete(delivery.id);
    this.#asked.delete(delivery.id);
    this.#write({ ...delivery, state, nextAt: null, endedAt: this.#deps.clock.now() }, more);
  }

  /** A crash before it is on disk has the attempt made again: receivers know the id. */
  #write(delivery: DeliveryRecord, more: readonly Change[] = []): void {
    this.#deps.write([{ type: 'put_delivery', delivery }, ...more]).catch(this.#deps.logger.error);
  }
}

interface Due {
  readonly delivery: DeliveryRecord;
  readonly at: number;
}

/** A time that lies further ahead than any wait is of a wall clock that was set back since: it has come. */
function dueAt({ nextAt, madeAt }: DeliveryRecord, now: number): number {
  const at = nextAt ?? madeAt;
  return at - now > LONGEST_WAIT_MS ? now : at;
}

type Became = Outcome | 'removed' | 'obsolete';
type Failure = Extract<Outcome, { kind: 'failed' }>;
