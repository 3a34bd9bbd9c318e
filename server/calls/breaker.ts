import { z } from 'zod';
import type { SteadyClock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { KeptArea, type Store } from '../store/room.ts';
import type { OpenCircuit } from '../tools/room.ts';

export interface BreakerState {
  /** In a row. */
  readonly failures: number;
  readonly pauseMs: number;
  /** On the steady clock; null while it is offered calls as ever. */
  readonly until: number | null;
  /** The one call that is tried after the pause. */
  readonly halfOpen: string | null;
}

const OPEN_AFTER = 3;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 5 * 60_000;
/** Tools of instances that never come back are forgotten, those that failed longest ago first. */
const MOST_KEPT = 1_000;

/** One more failure makes this of a state (rules BR1 to BR3). Pure. */
export function afterFailure(state: BreakerState | undefined, now: number): BreakerState {
  const failures = (state?.failures ?? 0) + 1;
  if (!state || state.until === null) {
    const opens = failures >= OPEN_AFTER;
    const until = opens ? now + FIRST_PAUSE_MS : null;
    return { failures, pauseMs: FIRST_PAUSE_MS, until, halfOpen: null };
  }
  // An older call that fails in the pause says nothing new.
  if (now < state.until) return { ...state, failures };
  const pauseMs = Math.min(state.pauseMs * 2, LONGEST_PAUSE_MS);
  return { failures, pauseMs, until: now + pauseMs, halfOpen: null };
}

const admits = (state: BreakerState | undefined, now: number): boolean =>
  !state || state.until === null || (now >= state.until && state.halfOpen === null);

/**
 * A state is kept so, without the call that is tried: its end and this are two
 * writes, and a call that has ended would keep the instance from being tried for ever.
 */
const keptSchema = z.object({
  instanceId: z.string(),
  tool: z.string(),
  failures: z.number(),
  pauseMs: z.number(),
  until: z.number().nullable(),
});

type KeptValue = z.infer<typeof keptSchema>;
type KeptChanges = Parameters<KeptArea<KeptValue>['change']>[0];
type Failing = KeptValue & BreakerState;

/**
 * Keeps calls away from an instance that does not deliver a tool's calls: after
 * three failures in a row it is passed over for a while, then tried with one
 * call. Failures of the tool itself do not count. A restart keeps it. By instance
 * and tool; rules BR1 to BR8.
 */
export class Breaker {
  readonly #clock: SteadyClock;
  readonly #logger: Logger;
  /** By instance and tool, in the order of their newest failures; at most `MOST_KEPT` of them. */
  readonly #states = new Map<string, Failing>();
  /** Their keys by instance: what is listed of thousands of clients looks at each one's own alone. */
  readonly #keysOf = new Map<string, Set<string>>();
  readonly #kept: KeptArea<KeptValue>;
  readonly #listeners: ((instanceId: string) => void)[] = [];

  constructor(deps: {
    clock: SteadyClock;
    store: Pick<Store, 'write' | 'listKept'>;
    logger: Logger;
  }) {
    const { clock, store, logger } = deps;
    this.#clock = clock;
    this.#logger = logger;
    this.#kept = new KeptArea({ store, area: 'breaker', schema: keptSchema, now: clock.now });
  }

  /** Takes up what an earlier server kept. Once, before anything is asked. */
  async load(): Promise<void> {
    for (const { value } of await this.#kept.load()) {
      // Nothing that was lost of the steady clock makes the pause longer than it was.
      const until = value.until && Math.min(value.until, this.#clock.steady() + value.pauseMs);
      this.#put({ ...value, until, halfOpen: null });
      if (until !== null) this.#publishAt(until, value.instanceId);
    }
  }

  admits(instanceId: string, tool: string): boolean {
    return admits(this.#get(instanceId, tool), this.#clock.steady());
  }

  /** It is being offered this call. */
  offered(instanceId: string, tool: string, callId: string): void {
    const state = this.#get(instanceId, tool);
    if (!state || state.until === null) return;
    this.#states.set(keyOf(state), { ...state, halfOpen: callId });
  }

  failed(instanceId: string, tool: string): void {
    const before = this.#get(instanceId, tool);
    const state = afterFailure(before, this.#clock.steady());
    this.#count({ instanceId, tool, ...state });
    if (state.until === null || state.until === before?.until) return;
    this.#publishAt(state.until, instanceId);
    this.#publish(instanceId);
  }

  /** An answer came. */
  delivered(instanceId: string, tool: string): void {
    const state = this.#get(instanceId, tool);
    if (!state) return;
    this.#forget(state);
    this.#keep([{ key: keyOf(state) }]);
    if (state.until !== null) this.#publish(instanceId);
  }

  /** The call ended in a way that says nothing of its delivery. */
  released(instanceId: string, tool: string, callId: string): void {
    const state = this.#get(instanceId, tool);
    if (state?.halfOpen !== callId) return;
    this.#states.set(keyOf(state), { ...state, halfOpen: null });
    this.#publish(instanceId);
  }

  // These two are given to others as functions.
  readonly openCircuitOf = (instanceId: string, tool: string): OpenCircuit | undefined => {
    const state = this.#get(instanceId, tool);
    return state && this.#toOpenCircuit(state)[0];
  };

  readonly openCircuitsOf = (instanceId: string): OpenCircuit[] =>
    [...(this.#keysOf.get(instanceId) ?? [])].flatMap((key) => {
      const state = this.#states.get(key);
      return state ? this.#toOpenCircuit(state) : [];
    });

  /** Called when an instance is tripped, is to be tried again, or is as ever. */
  onChange(listener: (instanceId: string) => void): void {
    this.#listeners.push(listener);
  }

  #get(instanceId: string, tool: string): Failing | undefined {
    return this.#states.size === 0 ? undefined : this.#states.get(keyOf({ instanceId, tool }));
  }

  /** It becomes the newest. Returns the one that it took the place of. */
  #put(state: Failing): Failing | undefined {
    const { instanceId } = state;
    const key = keyOf(state);
    this.#states.delete(key);
    this.#states.set(key, state);
    this.#keysOf.set(instanceId, (this.#keysOf.get(instanceId) ?? new Set()).add(key));
    const [oldest] = this.#states.size > MOST_KEPT ? this.#states.values() : [];
    if (oldest) this.#forget(oldest);
    return oldest;
  }

  #forget(state: Failing): void {
    const keys = this.#keysOf.get(state.instanceId);
    this.#states.delete(keyOf(state));
    keys?.delete(keyOf(state));
    if (keys?.size === 0) this.#keysOf.delete(state.instanceId);
  }

  #count(state: Failing): void {
    const forgotten = this.#put(state);
    const { halfOpen: _, ...value } = state;
    const key = keyOf(state);
    this.#keep([{ key, value }, ...(forgotten ? [{ key: keyOf(forgotten) }] : [])]);
    if (forgotten) this.#publish(forgotten.instanceId);
  }

  #keep(changes: KeptChanges): void {
    this.#kept.change(changes).catch(this.#logger.error);
  }

  #publish(instanceId: string): void {
    for (const listener of this.#listeners) listener(instanceId);
  }

  /** It is to be tried again then. */
  #publishAt(until: number, instanceId: string): void {
    this.#clock.schedule(until - this.#clock.steady(), () => this.#publish(instanceId));
  }

  #toOpenCircuit({ tool, until, failures }: Failing): OpenCircuit[] {
    const { wall, steady } = this.#clock.moment();
    return until === null ? [] : [{ tool, until: until + wall - steady, failures }];
  }
}

const keyOf = ({ instanceId, tool }: Pick<KeptValue, 'instanceId' | 'tool'>): string =>
  JSON.stringify([instanceId, tool]);
