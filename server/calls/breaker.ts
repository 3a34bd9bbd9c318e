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

/**
 * Keeps calls away from an instance that does not deliver a tool's calls: after
 * three failures in a row it is passed over for a while, then tried with one
 * call. Failures of the tool itself do not count. A restart keeps it. By instance
 * and tool; rules BR1 to BR8.
 */
export class Breaker {
  readonly #clock: SteadyClock;
  readonly #logger: Logger;
  readonly #states = new BreakerStates();
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
      const { instanceId, tool, ...rest } = value;
      // Nothing that was lost of the steady clock makes the pause longer than it was.
      const until = rest.until && Math.min(rest.until, this.#clock.steady() + rest.pauseMs);
      this.#states.put(instanceId, tool, { ...rest, until, halfOpen: null });
      if (until !== null) this.#publishAt(until, instanceId);
    }
  }

  admits(instanceId: string, tool: string): boolean {
    return admits(this.#get(instanceId, tool), this.#clock.steady());
  }

  /** It is being offered this call. */
  offered(instanceId: string, tool: string, callId: string): void {
    const state = this.#get(instanceId, tool);
    if (!state || state.until === null) return;
    this.#states.set(instanceId, tool, { ...state, halfOpen: callId });
  }

  failed(instanceId: string, tool: string): void {
    const before = this.#get(instanceId, tool);
    const state = afterFailure(before, this.#clock.steady());
    this.#count(instanceId, tool, state);
    if (state.until === null || state.until === before?.until) return;
    this.#publishAt(state.until, instanceId);
    this.#publish(instanceId);
  }

  /** An answer came. */
  delivered(instanceId: string, tool: string): void {
    const state = this.#get(instanceId, tool);
    if (!state) return;
    this.#states.delete(instanceId, tool);
    this.#keep([{ key: keyOf(instanceId, tool) }]);
    if (state.until !== null) this.#publish(instanceId);
  }

  /** The call ended in a way that says nothing of its delivery. */
  released(instanceId: string, tool: string, callId: string): void {
    const state = this.#get(instanceId, tool);
    if (state?.halfOpen !== callId) return;
    this.#states.set(instanceId, tool, { ...state, halfOpen: null });
    this.#publish(instanceId);
  }

  // These two are given to others as functions.
  readonly openCircuitOf = (instanceId: string, tool: string): OpenCircuit | undefined => {
    const state = this.#get(instanceId, tool);
    return state && this.#toOpenCircuit(tool, state)[0];
  };

  readonly openCircuitsOf = (instanceId: string): OpenCircuit[] =>
    [...this.#states.of(instanceId)].flatMap(([tool, state]) => this.#toOpenCircuit(tool, state));

  /** Called when an instance is tripped, is to be tried again, or is as ever. */
  onChange(listener: (instanceId: string) => void): void {
    this.#listeners.push(listener);
  }

  #get(instanceId: string, tool: string): BreakerState | undefined {
    return this.#states.isEmpty ? undefined : this.#states.get(instanceId, tool);
  }

  #count(instanceId: string, tool: string, state: BreakerState): void {
    const forgotten = this.#states.put(instanceId, tool, state);
    const { failures, pauseMs, until } = state;
    const value = { instanceId, tool, failures, pauseMs, until };
    const key = keyOf(instanceId, tool);
    this.#keep([{ key, value }, ...(forgotten ? [{ key: keyOf(...forgotten) }] : [])]);
    if (forgotten) this.#publish(forgotten[0]);
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

  #toOpenCircuit(tool: string, { until, failures }: BreakerState): OpenCircuit[] {
    const { wall, steady } = this.#clock.moment();
    return until === null ? [] : [{ tool, until: until + wall - steady, failures }];
  }
}

const keyOf = (instanceId: string, tool: string): string => JSON.stringify([instanceId, tool]);

/** By instance and tool, in the order of their newest failures; at most `MOST_KEPT` of them. */
class BreakerStates {
  readonly #byInstance = new Map<string, Map<string, BreakerState>>();
  #size = 0;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  get(instanceId: string, tool: string): BreakerState | undefined {
    return this.#byInstance.get(instanceId)?.get(tool);
  }

  of(instanceId: string): ReadonlyMap<string, BreakerState> {
    return this.#byInstance.get(instanceId) ?? new Map();
  }

  /** In its place, where it has one. */
  set(instanceId: string, tool: string, state: BreakerState): void {
    this.#byInstance.get(instanceId)?.set(tool, state);
  }

  /** It becomes the newest. Returns the instance and the tool that it took the place of. */
  put(instanceId: string, tool: string, state: BreakerState): [string, string] | undefined {
    const tools = this.#byInstance.get(instanceId) ?? new Map<string, BreakerState>();
    if (!tools.delete(tool)) this.#size += 1;
    this.#byInstance.delete(instanceId);
    this.#byInstance.set(instanceId, tools.set(tool, state));
    if (this.#size <= MOST_KEPT) return undefined;
    const [oldest] = this.#byInstance.entries();
    if (!oldest) return undefined;
    const [from, [of = '']] = [oldest[0], [...oldest[1].keys()]];
    this.delete(from, of);
    return [from, of];
  }

  delete(instanceId: string, tool: string): void {
    const tools = this.#byInstance.get(instanceId);
    if (!tools?.delete(tool)) return;
    this.#size -= 1;
    if (tools.size === 0) this.#byInstance.delete(instanceId);
  }
}
