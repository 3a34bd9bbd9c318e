import type { Clock } from '../clock.ts';
import type { Trip } from '../tools/tool-registry.ts';

export interface BreakerState {
  /** In a row. */
  readonly failures: number;
  readonly pauseMs: number;
  /** Null while it is offered calls as ever. */
  readonly until: number | null;
  /** The one call that is tried after the pause. */
  readonly trial: string | null;
}

const TRIP_AFTER = 3;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 5 * 60_000;
/** Instances that never come back are forgotten, the oldest first. */
const MOST_KEPT = 1_000;

/** What one more failure makes of it (rules BR1 to BR3). Pure. */
export function afterFailure(state: BreakerState | undefined, now: number): BreakerState {
  const failures = (state?.failures ?? 0) + 1;
  if (!state || state.until === null) {
    const trips = failures >= TRIP_AFTER;
    const until = trips ? now + FIRST_PAUSE_MS : null;
    return { failures, pauseMs: FIRST_PAUSE_MS, until, trial: null };
  }
  // An older call that fails in the pause says nothing new.
  if (now < state.until) return { ...state, failures };
  const pauseMs = Math.min(state.pauseMs * 2, LONGEST_PAUSE_MS);
  return { failures, pauseMs, until: now + pauseMs, trial: null };
}

export const admits = (state: BreakerState | undefined, now: number): boolean =>
  !state || state.until === null || (now >= state.until && state.trial === null);

/**
 * Keeps calls away from an instance that does not deliver a tool's calls: after
 * three failures in a row it is passed over for a while, then tried with one
 * call. Failures of the tool itself do not count. In memory: a restart forgets.
 */
export interface Breaker {
  admits(instanceId: string, tool: string): boolean;
  /** It is being offered this call. */
  offered(instanceId: string, tool: string, callId: string): void;
  failed(instanceId: string, tool: string): void;
  /** An answer came. */
  delivered(instanceId: string, tool: string): void;
  /** The call ended in a way that says nothing of its delivery. */
  released(instanceId: string, tool: string, callId: string): void;
  tripOf(instanceId: string, tool: string): Trip | undefined;
  tripsOf(instanceId: string): Trip[];
  /** Called when an instance is tripped, is to be tried again, or is as ever. */
  onChange(listener: (instanceId: string) => void): void;
}

export function createBreaker({ clock }: { clock: Clock }): Breaker {
  const states = new Map<string, Map<string, BreakerState>>();
  const listeners: ((instanceId: string) => void)[] = [];
  const publish = (instanceId: string) => {
    for (const listener of listeners) listener(instanceId);
  };
  const get = (instanceId: string, tool: string) => states.get(instanceId)?.get(tool);

  function put(instanceId: string, tool: string, state: BreakerState): void {
    const tools = states.get(instanceId) ?? new Map<string, BreakerState>();
    states.delete(instanceId);
    states.set(instanceId, tools.set(tool, state));
    const [oldest] = states.keys();
    if (states.size <= MOST_KEPT || oldest === undefined) return;
    states.delete(oldest);
    publish(oldest);
  }

  const toTrip = (tool: string, { until, failures }: BreakerState): Trip[] =>
    until === null ? [] : [{ tool, until, failures }];

  return {
    admits: (instanceId, tool) => states.size === 0 || admits(get(instanceId, tool), clock.now()),
    offered(instanceId, tool, callId) {
      const state = states.size === 0 ? undefined : get(instanceId, tool);
      if (state && state.until !== null) put(instanceId, tool, { ...state, trial: callId });
    },
    failed(instanceId, tool) {
      const before = get(instanceId, tool);
      const state = afterFailure(before, clock.now());
      put(instanceId, tool, state);
      if (state.until === null || state.until === before?.until) return;
      clock.schedule(state.until - clock.now(), () => publish(instanceId));
      publish(instanceId);
    },
    delivered(instanceId, tool) {
      const state = states.size === 0 ? undefined : get(instanceId, tool);
      if (!state) return;
      const tools = states.get(instanceId);
      tools?.delete(tool);
      if (tools?.size === 0) states.delete(instanceId);
      if (state.until !== null) publish(instanceId);
    },
    released(instanceId, tool, callId) {
      const state = states.size === 0 ? undefined : get(instanceId, tool);
      if (state?.trial !== callId) return;
      put(instanceId, tool, { ...state, trial: null });
      publish(instanceId);
    },
    tripOf(instanceId, tool) {
      const state = get(instanceId, tool);
      return state && toTrip(tool, state)[0];
    },
    tripsOf: (instanceId) =>
      [...(states.get(instanceId) ?? [])].flatMap(([tool, state]) => toTrip(tool, state)),
    onChange: (listener) => void listeners.push(listener),
  };
}
