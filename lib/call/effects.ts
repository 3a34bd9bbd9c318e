import { type Call, isPolling, isRerunnable } from './call.ts';
import type { CallEvent } from './call-event.ts';
import type { NeverStarted } from './call-state.ts';

/**
 * An effect waits for this to be on disk (rule CE2): nothing; the newest
 * offer of the call with all that came before it; the event itself; or, for
 * `creation`, nothing as long as the event is in one write with the call's first
 * one, else the event itself.
 */
export type EffectBarrier = 'nothing' | 'creation' | 'offer' | 'event';

/** Effects follow from a decision, as data. The engine runs them; `decide` never does. */
export type Effect =
  /** Look for an executor now, within the same write. `orElse` happens when there is none. */
  | {
      readonly type: 'route';
      readonly orElse?: CallEvent;
    }
  /** `tool_call_request` to the instance that the call is pinned to. */
  | { readonly type: 'request'; readonly after: EffectBarrier }
  /** The answer to a claim; who claimed waits for it. */
  | { readonly type: 'grant'; readonly attempt: number; readonly after: EffectBarrier }
  /** Start the server's own tool. */
  | { readonly type: 'run'; readonly after: EffectBarrier }
  /** Stop its executor: `tool_call_cancel` to a client, an aborted signal here. */
  | { readonly type: 'stop'; readonly reason: string; readonly after: EffectBarrier }
  /** Route it again once the instance has registered the tool (CB8). */
  | { readonly type: 'reoffer'; readonly neverStarted: NeverStarted | undefined };

/**
 * An offer to a client that claims is no permission. What may be repeated may run
 * while no disk has the call: a crash then leaves neither a call nor an attempt.
 */
export const offerBarrier = (offered: Call): EffectBarrier =>
  offered.provider?.claims ? 'nothing' : startBarrier(offered);

export const startBarrier = (started: Call): EffectBarrier =>
  isRerunnable(started) ? 'creation' : 'event';

/**
 * A start takes what it finds offered for granted (`recovered`), so a grant need
 * not be on disk itself. What a polling client fetched is counted by its grant alone.
 */
// guard: grant-after-record
export const grantBarrier = ({ provider }: Call): EffectBarrier =>
  provider && isPolling(provider) ? 'event' : 'offer';
