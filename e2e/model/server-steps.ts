import type { CallEvent } from '#lib/call/call-event';
import type { Decision } from '#lib/call/decide';
import type { Effect, EffectBarrier } from '#lib/call/effects';
import { actionOnReturn, type ClientKnowledge } from '#lib/call/resume-matrix';
import type { CallClock } from '#lib/protocol/call-status';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Design } from './design.ts';
import {
  type Bounds,
  INSTANCES,
  type Instance,
  isRerunnableAt,
  type Pending,
  post,
  type Rec,
  toCall,
  toRec,
  type World,
} from './world.ts';

/** No clock runs by itself here: the explorer lets each run out. */
const NEVER_LATER = { wall: 0, steady: 0 };

type Decided = Extract<Decision, { ok: true }>;

/**
 * The engine's loop around the real `decide`, on a disk that is written when the
 * explorer says so; the world around it is `steps.ts`.
 */
export function createServer(design: Design, bounds: Bounds) {
  /** Decides, appends, and lets each effect leave behind what it waits for. */
  function apply(w: World, event: CallEvent, more: { out?: string; result?: string } = {}) {
    const isNew = w.isNew;
    const decision = design.decide(toCall(w.rec), event, NEVER_LATER);
    if (!decision.ok) return decision;
    const { result = w.rec.result } = more;
    const executed = more.result === undefined ? w.rec.executed : 'yes';
    const rec = toRec(decision.record, { ...w.rec, result, executed });
    const isOffer = event.type === 'offered';
    const own: Pending = { rec, isOffer, outs: more.out ? [more.out] : [], isTold: false };
    w.rec = rec;
    w.pending.push(own);
    if (isNew) mergeFirst(w);
    follow(w, decision, event, isNew);
    if (design.tells === 'when decided') tell(w, w.pending.at(-1));
    return decision;
  }

  /** What follows from the call's first event within the same write. */
  function mergeFirst(w: World): void {
    const [first, own] = w.pending.splice(0, 2);
    if (own) w.pending.push({ ...own, outs: [...(first?.outs ?? []), ...own.outs] });
    w.isNew = false;
  }

  function follow(w: World, { effects }: Decided, event: CallEvent, isNew: boolean): void {
    for (const effect of effects) {
      if (effect.type === 'reoffer') owe(w, effect, event);
      else if (effect.type === 'route') routeOnce(w);
      else if (effect.type !== 'run') {
        const i = w.rec.provider?.instanceId as Instance | undefined;
        if (i === undefined) continue;
        const type = { request: 'request', grant: 'granted', stop: 'cancel' }[effect.type];
        const attempt = effect.type === 'stop' ? 0 : w.rec.provider?.attempt;
        const barrier = design.barrier(effect.after, effect);
        const after = barrier === 'creation' ? (isNew ? 'nothing' : 'event') : barrier;
        leave(w, `c ${i} ${w.live[i]} ${type} ${attempt} -`, after);
      }
    }
  }

  function owe(w: World, { neverStarted }: Effect & { type: 'reoffer' }, event: CallEvent): void {
    const { provider } = w.rec;
    if (!provider || event.type !== 'client_back') return;
    const { instanceId, attempt } = provider;
    w.owed[instanceId as Instance] = { instanceId, attempt, isProof: neverStarted !== undefined };
  }

  function routeOnce(w: World): void {
    for (const other of INSTANCES) if (w.serves[other] && offer(w, other, null)) return;
  }

  /** Behind what it waits for, as far as that is not on disk. */
  function leave(w: World, out: string, barrier: Exclude<EffectBarrier, 'creation'>): void {
    const last = w.pending.length - 1;
    const at = { nothing: -1, offer: w.pending.findLastIndex((one) => one.isOffer), event: last };
    const behind = w.pending[at[barrier]];
    if (!behind || behind.isTold) say(w, out);
    else w.pending[at[barrier]] = { ...behind, outs: [...behind.outs, out] };
  }

  function tell(w: World, one: Pending | undefined): void {
    if (!one || one.isTold) return;
    one.isTold = true;
    w.seen = one.rec.status;
    for (const out of one.outs) say(w, out);
  }

  function say(w: World, out: string): void {
    if (out === 'accepted') {
      w.isAccepted = true;
      return;
    }
    const [, instance, conn, type, attempt] = out.split(' ');
    if (w.live[instance as Instance] !== Number(conn)) return;
    const isSame =
      w.rec.provider?.attempt === Number(attempt) || design.matches === 'the call alone';
    const isStill = w.rec.phase === 'granted' && isSame;
    post(w, type === 'granted' && !isStill ? `c ${instance} ${conn} refused ${attempt} -` : out);
  }

  function offer(w: World, to: Instance, owed: World['owed'][Instance]): boolean {
    const attempt = (w.rec.provider?.attempt ?? 0) + 1;
    if (attempt > bounds.attempts || !w.serves[to]) return false;
    const journalEpoch = bounds.claims ? `e${w.clients[to].journal.epoch}` : null;
    const provider = {
      clientId: 'c',
      instanceId: to,
      attempt,
      claims: bounds.claims,
      journalEpoch,
    };
    const current = w.rec.provider ?? provider;
    const proof = owed?.isProof || design.proof !== 'of that attempt' ? owed : null;
    const shown = {
      'of that attempt': proof,
      'of any attempt': proof && current,
      'not asked for': current,
    };
    const neverStarted = shown[design.proof];
    const rerunnable = isRerunnableAt(bounds, design.says === 'what the first said' ? 'a' : to);
    const event: CallEvent = {
      type: 'offered',
      provider,
      rerunnable,
      ...(neverStarted && { neverStarted }),
      fields: { annotations: rerunnable ? { readOnlyHint: true } : {} },
    };
    return apply(w, event).ok;
  }

  const answerer = (w: World, instanceId: Instance, attempt: number) =>
    (design.matches === 'the call alone' && w.rec.provider) || {
      clientId: 'c',
      instanceId,
      attempt,
    };

  function answered(w: World, i: Instance, attempt: number, answer: string): void {
    const reply = (type: string, text: string) => `c ${i} ${w.live[i]} ${type} ${attempt} ${text}`;
    const isOk = answer.startsWith('ok:');
    const code = answer === 'outcome_unknown' ? answer : 'cancelled';
    const error = isOk ? null : ({ code, message: '', executed: 'unknown' } as const);
    const event: CallEvent = { type: 'answered', from: answerer(w, i, attempt), error };
    const more = isOk ? { result: answer } : {};
    const moved = apply(w, event, { ...more, out: reply('acknowledged', answer) });
    if (moved.ok) return;
    if (moved.refusal !== 'already_final') return say(w, reply('rejected', '-'));
    const isSame = w.rec.result === answer;
    const isOther = !isSame && w.rec.result?.startsWith('ok:');
    const text = isSame ? answer : 'late';
    leave(w, isOther ? reply('rejected', '-') : reply('acknowledged', text), 'event');
  }

  function hello(w: World, i: Instance, conn: number, epoch: number, phase: string): void {
    w.newest[i] = conn;
    w.live[i] = conn;
    w.serves[i] = false;
    w.owed[i] = null;
    const { provider } = w.rec;
    const isMine = provider !== null && (provider.instanceId === i || phase !== 'nothing');
    const knowledge = knowledgeOf(w.rec, epoch, phase);
    const action = isMine ? actionOnReturn(toCall(w.rec), knowledge) : 'leave';
    const welcome = `c ${i} ${conn} welcome 0 ${action}`;
    leave(w, welcome, design.forgets === 'once on disk' ? 'event' : 'nothing');
    if (!isMine || isFinalStatus(w.rec.status)) return;
    apply(w, { type: 'client_back', instanceId: i, knowledge });
  }

  function knowledgeOf({ provider }: Rec, epoch: number, phase: string): ClientKnowledge {
    if (phase !== 'nothing') return phase as ClientKnowledge;
    const isSame = bounds.claims && provider?.journalEpoch === `e${epoch}`;
    return isSame ? 'nothing' : 'nothing_new_journal';
  }

  const isGrantUnsent = (w: World): boolean =>
    w.pending.some(({ outs, isTold }) => !isTold && outs.some((out) => out.includes(' granted ')));

  const others = (w: World): Instance[] => INSTANCES.filter((i) => w.serves[i]);

  return {
    offer,
    answered,
    hello,
    tell,
    claimed(w: World, i: Instance, attempt: number) {
      const moved = apply(w, { type: 'claimed', from: answerer(w, i, attempt) });
      if (moved.ok) return;
      // A claim that comes twice gets its grant twice, once that is on disk.
      const isAgain = moved.refusal === 'already_granted' && bounds.claims;
      const type = isAgain ? 'granted' : 'refused';
      leave(w, `c ${i} ${w.live[i]} ${type} ${attempt} -`, isAgain ? 'event' : 'nothing');
    },
    /** The instance's socket is gone. */
    gone(w: World, i: Instance) {
      Object.assign(w, { live: { ...w.live, [i]: 0 }, serves: { ...w.serves, [i]: false } });
      w.owed[i] = null;
      if (w.rec.provider?.instanceId === i) apply(w, { type: 'client_left' });
    },
    /** What the last process left open. */
    recover(w: World) {
      if (w.rec.phase !== null) apply(w, { type: 'recovered', shiftMs: 0 });
    },
    /** The clocks that may run out now, besides `start`, which only offers again. */
    clocks({ rec, live, isForgotten }: World): CallClock[] {
      if (isForgotten || isFinalStatus(rec.status)) return [];
      const isAway = rec.provider !== null && live[rec.provider.instanceId as Instance] === 0;
      const waits = isAway && (bounds.claims || rec.rerunnable) && rec.phase !== 'queued';
      return [
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
    end(w: World, event: CallEvent) {
      apply(w, event);
    },
    cancel(w: World) {
      const isUnsent =
        w.rec.phase === 'granted' && (design.cancels === 'what was granted' || isGrantUnsent(w));
      apply(w, { type: 'cancelled', reason: '', isUnsent });
    },
    canBeOffered: others,
  };
}
