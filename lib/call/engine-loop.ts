import { isFinalStatus } from '../protocol/is-final-status.ts';
import type { Call, Provider } from './call.ts';
import type { Actor, CallEvent } from './call-event.ts';
import type { Rejected } from './call-state.ts';
import type { Moment } from './clocks.ts';
import type { Decision, decide } from './decide.ts';
import type { Effect } from './effects.ts';

/**
 * The logic of the engine's loop, without its disk, its bus and its executors (rule CE6): the
 * engine goes by it, and so does the model of a call (e2e/model). No function reads a clock or
 * waits; each changes only the batch or the call's progress that it is given.
 */

type Decided = Extract<Decision, { ok: true }>;

/** The rules say what is decided, and who could run a call. */
export interface Rules {
  readonly decide: typeof decide;
  /** The event that would bring the call to an executor now. */
  route(record: Call): CallEvent | undefined;
}

/** An effect, and the record that its event led to. */
export interface DecidedEffect {
  readonly effect: Effect;
  readonly record: Call;
}

/** The decisions of one write. `record` is that of the newest; each has the next version. */
export interface DecisionBatch {
  readonly record: Call;
  readonly effects: DecidedEffect[];
  /** The version of the newest offer among them. */
  readonly offerVersion: number | undefined;
  /** The event by which a start takes the call up, when it is among them. */
  readonly recovery: Recovery | undefined;
  addFirst(record: Call, actor: Actor): void;
  add(event: CallEvent, actor: Actor, decision: Decided): void;
}

/** `after`: the version that has to be on disk before the effect; 0 for none. */
export interface PlannedEffect {
  readonly effect: Effect;
  readonly after: number;
}

/** The newest grant of a call: it may leave before its event is on disk, once its offer is. */
export interface Grant {
  readonly to: Provider;
  /** The version of its event. */
  readonly version: number;
  /** Its client may have it: nothing takes it back any more. */
  hasLeft: boolean;
}

/** The event by which this process took the call up. */
export interface Recovery {
  readonly event: Extract<CallEvent, { type: 'recovered' }>;
  readonly version: number;
}

/** How far a call has come. */
export interface CallProgress<Pending extends PlannedEffect = PlannedEffect> {
  /** It has been decided; the next decision is made on this. */
  latest: Call;
  /** It is on disk; everybody else is shown this. */
  durable: Call | undefined;
  pendingEffects: Pending[];
  grant: Grant | undefined;
  /** The version of the newest offer; 0 when that was on disk before this process. */
  offerVersion: number;
  /** Undefined for a call that this process made. */
  recovery: Recovery | undefined;
}

/** A new call: with its first event and what follows from that. A call that may wait is shown as such from its first update on. */
export function beginWith(
  batch: DecisionBatch,
  event: CallEvent | undefined,
  actor: Actor,
  rules: Rules,
  now: Moment,
): Rejected | undefined {
  const call = batch.record;
  const decision = event && rules.decide(call, event, now);
  if (decision && !decision.ok) return decision;
  const isWaiting = decision && !isFinalStatus(decision.record.status);
  batch.addFirst(isWaiting ? decision.record : call, actor);
  if (isWaiting) follow(batch, decision.effects, rules, now);
  else if (event) decideNext(batch, event, actor, rules, now);
  return undefined;
}

/** A decision, with what follows from it in the same write. One that changes nothing is no event. */
export function addDecision(
  batch: DecisionBatch,
  event: CallEvent,
  actor: Actor,
  decision: Decided,
  rules: Rules,
  now: Moment,
): void {
  if (decision.record !== batch.record) batch.add(event, actor, decision);
  follow(batch, decision.effects, rules, now);
}

function decideNext(
  batch: DecisionBatch,
  event: CallEvent,
  actor: Actor,
  rules: Rules,
  now: Moment,
): boolean {
  const decision = rules.decide(batch.record, event, now);
  if (decision.ok) addDecision(batch, event, actor, decision, rules, now);
  return decision.ok;
}

/** Routing happens within the same write: a crash in between would leave a call that is never placed. */
function follow(batch: DecisionBatch, effects: readonly Effect[], rules: Rules, now: Moment): void {
  for (const effect of effects) {
    if (effect.type !== 'route') batch.effects.push({ effect, record: batch.record });
    else {
      const { orElse } = effect;
      const next = rules.route(batch.record);
      const isRouted = next !== undefined && decideNext(batch, next, 'server', rules, now);
      if (!isRouted && orElse) decideNext(batch, orElse, 'server', rules, now);
    }
  }
}

/** Takes over what was decided; its effects, in their order, with what each waits for. */
export function takeDecided(
  progress: CallProgress,
  batch: DecisionBatch,
  isNew: boolean,
): (DecidedEffect & PlannedEffect)[] {
  progress.latest = batch.record;
  progress.offerVersion = batch.offerVersion ?? progress.offerVersion;
  progress.recovery = batch.recovery ?? progress.recovery;
  const { offerVersion } = progress;
  return batch.effects.map(({ effect, record }) => {
    return { effect, record, after: barrierOf(effect, record, offerVersion, isNew) };
  });
}

function barrierOf(effect: Effect, record: Call, offerVersion: number, isNew: boolean): number {
  const barrier = 'after' in effect ? effect.after : 'nothing';
  if (barrier === 'nothing' || (barrier === 'creation' && isNew)) return 0;
  return barrier === 'offer' ? offerVersion : record.version;
}

/** True when it happens at once; else it waits. From now on a grant is the newest one. */
export function happensNow(
  progress: CallProgress,
  { effect, record, after }: DecidedEffect & PlannedEffect,
): boolean {
  if (effect.type === 'grant' && record.provider) {
    progress.grant = { to: record.provider, version: record.version, hasLeft: false };
  }
  return after <= (progress.durable?.version ?? 0);
}

/** A call that has ended before its start could happen is not started (CS5). */
export const isStillWanted = (
  { latest }: Pick<CallProgress, 'latest'>,
  { type }: Effect,
): boolean => type !== 'run' || !isFinalStatus(latest.status);

/** Takes the effects that waited for this version, or one before it: they happen now, or when that is refused never. */
export function takePending<Pending extends PlannedEffect>(
  progress: Pick<CallProgress<Pending>, 'pendingEffects'>,
  version: number,
): Pending[] {
  const { pendingEffects } = progress;
  if (pendingEffects.length === 0) return pendingEffects;
  progress.pendingEffects = pendingEffects.filter(({ after }) => after > version);
  return pendingEffects.filter(({ after }) => after <= version);
}

/** Another writer was first (CE4): all that waits is void, whatever it waits for. Returns it. */
export function takeVoid<Pending extends PlannedEffect>(
  progress: Pick<CallProgress<Pending>, 'pendingEffects'>,
): Pending[] {
  return takePending(progress, Number.POSITIVE_INFINITY);
}

/** A client that got a grant by an event that is void now may run the call: it is granted in its newer state, too. */
export function grantedByVoid({
  grant,
  durable,
}: Pick<CallProgress, 'grant' | 'durable'>): Provider | undefined {
  return grant?.hasLeft && grant.version > (durable?.version ?? 0) ? grant.to : undefined;
}

/**
 * The event by which a start took the call up, where it is void now. It alone says that an offer of
 * before may have been granted, so it is decided again on the newer state, before anything else.
 */
export const recoveredByVoid = ({
  recovery,
  durable,
}: Pick<CallProgress, 'recovery' | 'durable'>): CallEvent | undefined =>
  recovery && recovery.version > (durable?.version ?? 0) ? recovery.event : undefined;

/** True when a start is decided that has not happened: a grant that has not left, or the first run of a server tool. */
export function hasUnsentStart({ grant, latest, durable, pendingEffects }: CallProgress): boolean {
  if (grant) return !grant.hasLeft && grant.to.attempt === latest.provider?.attempt;
  // One that ran before this process is started again.
  return !durable?.granted && pendingEffects.some(({ effect }) => effect.type === 'run');
}
