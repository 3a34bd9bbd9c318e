import type { WaitingApprovals } from '#lib/approval/waiting-approvals';
import type { Call } from '#lib/call/call';
import type { CallEvent } from '#lib/call/call-event';
import { mayBeOffered } from '#lib/call/call-machine';
import type { Effect } from '#lib/call/effects';
import {
  addDecision,
  beginWith,
  type DecidedEffect,
  grantedByVoid,
  happensNow,
  type Rules,
  takeVoid,
} from '#lib/call/engine-loop';
import { type JournalEntry, onReturn } from '#lib/call/resume-matrix';
import type { CallClock } from '#lib/protocol/call-status';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { EventBatch } from '../../server/calls/event-batch.ts';
import type { Design } from './design.ts';
import { logged } from './log-steps.ts';
import {
  type Bounds,
  durableOf,
  INSTANCES,
  type Instance,
  isRerunnableAt,
  type Pending,
  post,
  progressOf,
  type Rec,
  toCall,
  toRec,
  type WaitingEffect,
  type World,
} from './world.ts';

/** The server shows as many questions as may be shown at once. */
const FULL: WaitingApprovals = {
  ...{ equal: 0, isEqualHeld: false, atOnce: 1, ofRun: 1, ofCaller: 0, ofOwner: 0, held: 0 },
  lately: { count: 0, nextInMs: 0 },
};

/** No clock runs by itself here: the explorer lets each run out. */
const NEVER_LATER = { wall: 0, steady: 0 };

/**
 * What is around the engine's loop: a disk that is written when the explorer says so, clients
 * that come and go, and the server's own tool. The world around it is `steps.ts`.
 */
export function createServer(design: Design, bounds: Bounds) {
  const { isServer = false, isAsked = false } = bounds;

  /** Without `only` the first instance is asked that may be. */
  const rulesOf = (w: World, only?: Instance | null): Rules => ({
    decide: design.decide,
    route(call) {
      if (isServer) return { type: 'started_here' };
      const who = only === undefined ? INSTANCES : INSTANCES.filter((i) => i === only);
      return who.map((i) => offerTo(w, call, i, null)).find((event) => event !== undefined);
    },
  });

  function create(w: World, only: Instance | null, isHeld = false): void {
    const batch = new EventBatch(toCall(w.rec, bounds), 0);
    const check = isAsked ? 'ask' : 'allow';
    const event = { type: 'arguments_complete', check, ...(isHeld && { waiting: FULL }) } as const;
    beginWith(batch, event, 'operator', rulesOf(w, only), NEVER_LATER);
    commit(w, batch, 'accepted');
    w.isNew = false;
  }

  function apply(w: World, event: CallEvent, reply?: string) {
    const batch = new EventBatch(toCall(w.rec, bounds), 0);
    const decision = design.decide(batch.record, event, NEVER_LATER);
    if (!decision.ok) return decision;
    addDecision(batch, event, 'server', decision, rulesOf(w), NEVER_LATER);
    commit(w, batch, reply);
    return decision;
  }

  function commit(w: World, batch: EventBatch, reply: string | undefined): void {
    const { rec, waiting, grant, offerVersion, recovery } = w;
    const before = w.pending.at(-1)?.logged ?? durableOf(w);
    const now = decided(w, batch);
    if (w.isFailed) {
      for (const one of now) if (one.effect.type !== 'grant') run(w, one);
      // Refused, the decision is taken back at once; a grant looks at what is granted before it leaves.
      Object.assign(w, { rec, waiting, grant, offerVersion, recovery });
      for (const one of now) if (one.effect.type === 'grant') run(w, one);
      return;
    }
    const outs = reply ? [reply] : [];
    const comesTo = logged(before, batch, design, bounds);
    w.pending.push({ rec: w.rec, logged: comesTo, outs, isTold: false });
    for (const one of now) run(w, one);
    if (design.tells === 'when decided') tell(w, w.pending.at(-1));
  }

  /** Takes over what was decided; what happens at once. */
  function decided(w: World, batch: EventBatch): WaitingEffect[] {
    const progress = progressOf(w, bounds);
    const effects = design.loop.takeDecided(progress, batch, w.isNew);
    w.rec = toRec(progress.latest);
    w.waiting = [...w.waiting];
    progress.pendingEffects = w.waiting;
    const now: WaitingEffect[] = [];
    for (const planned of effects) {
      const one = inWorld(w, planned, planned.after);
      if (happensNow(progress, planned)) now.push(one);
      else progress.pendingEffects.push(one);
    }
    const { grant = null, offerVersion, recovery = null } = progress;
    Object.assign(w, { grant, offerVersion, recovery });
    return now;
  }

  const inWorld = (w: World, { effect, record }: DecidedEffect, after: number): WaitingEffect => {
    const { provider } = record;
    const conn = provider ? w.live[provider.instanceId as Instance] : 0;
    return { effect, after, provider, conn };
  };

  function run(w: World, { effect, provider, conn }: WaitingEffect): void {
    if (!design.loop.isStillWanted({ latest: toCall(w.rec, bounds) }, effect)) return;
    if (effect.type === 'run') w.own = 'started';
    else if (effect.type === 'stop' && isServer) w.own = w.own === 'started' ? 'stopped' : w.own;
    else if (provider) runAt(w, effect, provider, conn);
  }

  function runAt(w: World, effect: Effect, provider: NonNullable<Rec['provider']>, conn: number) {
    const { attempt } = provider;
    const i = provider.instanceId as Instance;
    // A request and a cancel go wherever it is connected, a reply to who asked.
    if (effect.type === 'request') say(w, `c ${i} ${w.live[i]} request ${attempt} -`);
    else if (effect.type === 'stop') say(w, `c ${i} ${w.live[i]} cancel 0 -`);
    else if (effect.type === 'grant') say(w, `c ${i} ${conn} granted ${attempt} -`);
    else if (effect.type === 'reoffer') {
      w.owed[i] = { instanceId: i, attempt, isProof: effect.neverStarted !== undefined };
    }
  }

  /** It happens with the newest write that is on its way to the disk, or at once when there is none. */
  function afterWrites(w: World, reply: string): void {
    const last = w.pending.at(-1);
    if (!last || last.isTold) say(w, reply);
    else w.pending[w.pending.length - 1] = { ...last, outs: [...last.outs, reply] };
  }

  /** It is on disk, or passes for it. */
  function tell(w: World, one: Pending | undefined): void {
    if (!one || one.isTold) return;
    one.isTold = true;
    w.seen = one.rec.status;
    const progress = progressOf(w, bounds);
    const due = design.loop.takePending(progress, one.rec.version);
    w.waiting = progress.pendingEffects;
    for (const effect of due) run(w, effect);
    for (const out of one.outs) say(w, out);
  }

  function say(w: World, out: string): void {
    if (out === 'accepted') {
      w.isAccepted = true;
      return;
    }
    const [, instance, conn, type, attempt] = out.split(' ');
    if (type === 'granted') {
      const isSame =
        w.rec.provider?.attempt === Number(attempt) || design.matches === 'the call alone';
      if (w.rec.phase !== 'granted' || !isSame) {
        say(w, `c ${instance} ${conn} refused ${attempt} -`);
        return;
      }
      if (w.grant) w.grant = { ...w.grant, hasLeft: true };
    }
    if (Number(conn) > 0 && w.live[instance as Instance] === Number(conn)) post(w, out);
  }

  /** The event by which an instance gets the call now; undefined when it may not. */
  function offerTo(
    w: World,
    call: Call,
    to: Instance,
    owed: World['owed'][Instance],
  ): CallEvent | undefined {
    const attempt = (call.provider?.attempt ?? 0) + 1;
    if (attempt > bounds.attempts || !w.serves[to]) return undefined;
    const { claims } = bounds;
    const journalEpoch = claims ? `e${w.clients[to].journal.epoch}` : null;
    const provider = { clientId: 'c', instanceId: to, attempt, claims, journalEpoch };
    const current = call.provider ?? provider;
    const proof = owed?.isProof || design.proof !== 'of that attempt' ? owed : null;
    const shown = {
      'of that attempt': proof,
      'of any attempt': proof && current,
      'not asked for': current,
    };
    const neverStarted = shown[design.proof] ?? undefined;
    const rerunnable = isRerunnableAt(bounds, design.says === 'what the first said' ? 'a' : to);
    if (!mayBeOffered(call, { rerunnable, neverStarted })) return undefined;
    return {
      type: 'offered',
      provider,
      rerunnable,
      neverStarted,
      fields: { annotations: rerunnable ? { readOnlyHint: true } : {} },
    };
  }

  function offer(w: World, to: Instance, owed: World['owed'][Instance]): boolean {
    const event = offerTo(w, toCall(w.rec, bounds), to, owed);
    return event !== undefined && apply(w, event).ok;
  }

  const answerer = (w: World, instanceId: Instance, attempt: number) =>
    (design.matches === 'the call alone' && w.rec.provider) || {
      clientId: 'c',
      instanceId,
      attempt,
    };

  function claimed(w: World, i: Instance, attempt: number): void {
    const moved = apply(w, { type: 'claimed', from: answerer(w, i, attempt) });
    if (moved.ok) return;
    // A claim that comes twice gets its grant twice, once that is on disk.
    const isAgain = moved.refusal === 'granted_before';
    const reply = (type: string) => `c ${i} ${w.live[i]} ${type} ${attempt} -`;
    if (isAgain) afterWrites(w, reply('granted'));
    else say(w, reply('refused'));
  }

  function answered(w: World, i: Instance, attempt: number, answer: string): void {
    const reply = (type: string, text: string) => `c ${i} ${w.live[i]} ${type} ${attempt} ${text}`;
    const isOk = answer.startsWith('ok:');
    const code = answer === 'outcome_unknown' ? answer : 'cancelled';
    const error = isOk ? null : ({ code, message: '', executed: 'unknown' } as const);
    const fields = { ...(isOk && { result: answer }), resultHash: answer };
    const report = { from: answerer(w, i, attempt), error, fields };
    const moved = apply(w, { type: 'answered', ...report }, reply('acknowledged', answer));
    if (moved.ok) return;
    if (moved.refusal !== 'already_final') return say(w, reply('rejected', '-'));
    const late = apply(w, { type: 'late_answer', ...report }, reply('acknowledged', 'late'));
    if (late.ok) return;
    if (late.refusal === 'duplicate') afterWrites(w, reply('acknowledged', answer));
    else if (late.refusal === 'late') afterWrites(w, reply('acknowledged', 'late'));
    else afterWrites(w, reply('rejected', '-'));
  }

  function hello(w: World, i: Instance, conn: number, epoch: number, known: string): void {
    w.newest[i] = conn;
    w.live[i] = conn;
    w.serves[i] = false;
    w.owed[i] = null;
    const journalEpoch = bounds.claims ? `e${epoch}` : null;
    const client = { clientId: 'c', instanceId: i, journalEpoch };
    const { mine, knowledge, action } = onReturn(toCall(w.rec, bounds), entryOf(known), client);
    const welcome = `c ${i} ${conn} welcome 0 ${action}`;
    if (design.forgets === 'once on disk') afterWrites(w, welcome);
    else say(w, welcome);
    if (mine) apply(w, { type: 'client_back', instanceId: i, knowledge });
  }

  function entryOf(known: string): JournalEntry | undefined {
    const [phase = '', attempt] = known.split(':');
    return phase === 'nothing'
      ? undefined
      : { phase: phase as JournalEntry['phase'], attempt: Number(attempt) };
  }

  /** Another writer of the store extends the time of the call, before what is on its way to the disk. */
  function overtaken(w: World): void {
    if (w.disk === null) return;
    const progress = progressOf(w, bounds);
    const voids = takeVoid(progress);
    const recovered = design.loop.recoveredByVoid(progress);
    const to = grantedByVoid(progress);
    w.disk = { ...w.disk, version: w.disk.version + 1 };
    Object.assign(w, { rec: w.disk, pending: [], grant: null, offerVersion: 0, recovery: null });
    w.waiting = progress.pendingEffects;
    if (design.voids === 'happen') for (const one of voids) run(w, one);
    if (recovered) apply(w, recovered);
    if (!to) return;
    const { clientId, instanceId, attempt } = to;
    apply(w, { type: 'claimed', from: { clientId, instanceId, attempt } });
    if (w.grant) w.grant = { ...(w.grant as NonNullable<World['grant']>), hasLeft: true };
  }

  /**
   * A broken design goes on after the answer of a commit is lost: so much of what was on its way to
   * the disk is there, and it does not know.
   */
  function goOn(w: World, written: number): void {
    const { pending, disk } = w;
    w.pending = [];
    w.disk = pending[written - 1]?.logged ?? disk;
    if (design.unknown === 'for stored') {
      for (const one of pending) tell(w, one);
      return;
    }
    Object.assign(w, { waiting: [], grant: null, offerVersion: 0, recovery: null });
    if (disk !== null) w.rec = disk;
    w.isFailed = design.unknown === 'for nothing';
  }

  return {
    create,
    goOn,
    offer,
    answered,
    hello,
    tell,
    claimed,
    overtaken,
    apply,
    /** The instance's socket is gone. */
    gone(w: World, i: Instance) {
      Object.assign(w, { live: { ...w.live, [i]: 0 }, serves: { ...w.serves, [i]: false } });
      w.owed[i] = null;
      if (w.rec.provider?.instanceId === i) apply(w, { type: 'client_left' });
    },
    /** The last process left these open. */
    recover(w: World) {
      if (w.rec.phase !== null) apply(w, { type: 'recovered', shiftMs: 0 });
    },
    cancel(w: World) {
      const isUnsent = design.loop.hasUnsentStart(progressOf(w, bounds));
      apply(w, { type: 'cancelled', reason: '', isUnsent });
    },
    /** The clocks that may run out now, besides `start`, which only offers again. */
    clocks({ rec, live, isForgotten }: World): CallClock[] {
      if (isForgotten || isFinalStatus(rec.status)) return [];
      const isAway = rec.provider !== undefined && live[rec.provider.instanceId as Instance] === 0;
      const waits = isAway && (bounds.claims || rec.rerunnable) && rec.phase !== 'queued';
      return [
        ...(rec.phase === 'approval' ? ['approval' as const] : []),
        ...(rec.phase === 'queued' || (rec.phase === 'offered' && bounds.claims && !rec.granted)
          ? ['queue' as const]
          : []),
        ...(rec.phase === 'granted' || (rec.phase === 'offered' && (!bounds.claims || rec.granted))
          ? ['execute' as const]
          : []),
        ...(rec.phase === 'cancelling' ? ['cancel' as const] : []),
        ...(waits ? ['resume' as const] : []),
      ];
    },
    canBeOffered: (w: World): Instance[] => INSTANCES.filter((i) => w.serves[i]),
  };
}
