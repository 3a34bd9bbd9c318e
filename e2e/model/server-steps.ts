import type { StateEvent } from '#lib/call/call-machine';
import type { ClientKnowledge } from '#lib/call/resume-matrix';
import type { CallClock } from '#lib/protocol/call-status';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Design } from './design.ts';
import {
  type Bounds,
  INSTANCES,
  type Instance,
  isRerunnableAt,
  post,
  type Rec,
  type World,
} from './world.ts';

/** What the server does, by the rules of its design; the world around it is `steps.ts`. */
export function createServer(design: Design, bounds: Bounds) {
  /** Decides by the machine; what follows is told when that is on disk. */
  function apply(w: World, event: StateEvent, outs: readonly string[], more: Partial<Rec> = {}) {
    const moved = design.transition(w.rec, event);
    if (!moved.ok) return moved;
    const { ok: _ok, error, ...state } = moved;
    const ended = error ? { result: error.code, executed: error.executed } : {};
    write(w, { ...w.rec, ...state, ...ended, ...more }, outs);
    return moved;
  }

  function write(w: World, rec: Rec, outs: readonly string[]): void {
    w.rec = rec;
    const isTold = design.tells === 'when decided';
    w.pending.push({ rec, outs, isTold });
    if (isTold) tell(w, rec, outs);
  }

  function tell(w: World, rec: Rec, outs: readonly string[]): void {
    w.seen = rec.status;
    for (const out of outs) say(w, out);
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
    const provider = { clientId: 'c', instanceId: to, attempt, claims: bounds.claims };
    const current = w.rec.provider ?? provider;
    const proof = owed?.isProof || design.proof !== 'of that attempt' ? owed : null;
    const shown = {
      'of that attempt': proof,
      'of any attempt': proof && current,
      'not asked for': current,
    };
    const neverStarted = shown[design.proof];
    const rerunnable = isRerunnableAt(bounds, design.says === 'what the first said' ? 'a' : to);
    const event: StateEvent = {
      type: 'offered',
      provider,
      rerunnable,
      ...(neverStarted && { neverStarted }),
    };
    const epoch = bounds.claims ? w.clients[to].journal.epoch : null;
    const request = `c ${to} ${w.live[to]} request ${attempt} -`;
    return apply(w, event, [request], { epoch, rerunnable }).ok;
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
    const event: StateEvent = {
      type: 'answered',
      from: answerer(w, i, attempt),
      error,
    };
    const fields = isOk ? { result: answer, executed: 'yes' } : {};
    const moved = apply(w, event, [reply('acknowledged', answer)], fields);
    if (moved.ok) return;
    if (moved.refusal !== 'already_final') return say(w, reply('rejected', '-'));
    const isSame = w.rec.result === answer;
    const isOther = !isSame && w.rec.result?.startsWith('ok:');
    afterAll(w, isOther ? reply('rejected', '-') : reply('acknowledged', isSame ? answer : 'late'));
  }

  /** What is said of a state waits until that state is on disk. */
  function afterAll(w: World, out: string): void {
    const last = w.pending.at(-1);
    if (!last || last.isTold) say(w, out);
    else w.pending[w.pending.length - 1] = { ...last, outs: [...last.outs, out] };
  }

  function hello(w: World, i: Instance, conn: number, epoch: number, phase: string): void {
    w.newest[i] = conn;
    w.live[i] = conn;
    w.serves[i] = false;
    w.owed[i] = null;
    const { provider } = w.rec;
    const isMine = provider !== null && (provider.instanceId === i || phase !== 'nothing');
    const client = knowledgeOf(w.rec, epoch, phase);
    const action = isMine ? judge(w.rec, client) : 'leave';
    const welcome = `c ${i} ${conn} welcome 0 ${action}`;
    if (design.forgets === 'once on disk') afterAll(w, welcome);
    else say(w, welcome);
    if (!isMine || isFinalStatus(w.rec.status)) return;
    if (action === 'outcome_unknown') apply(w, { type: 'outcome_lost', message: '' }, []);
    else {
      apply(w, { type: 'instance_back', instanceId: i }, []);
      const isProof = client === 'nothing';
      if (action === 'offer') w.owed[i] = { instanceId: i, attempt: provider.attempt, isProof };
    }
  }

  function knowledgeOf(rec: Rec, epoch: number, phase: string): ClientKnowledge {
    if (phase !== 'nothing') return phase as ClientKnowledge;
    return bounds.claims && rec.epoch === epoch ? 'nothing' : 'nothing_new_journal';
  }

  function judge(rec: Rec, client: ClientKnowledge) {
    const server = isFinalStatus(rec.status) ? 'final' : (rec.phase ?? 'final');
    return design.resumeAction({
      server,
      client,
      rerunnable: rec.rerunnable,
      claims: bounds.claims,
    });
  }

  /** The grant of the claim itself; one that is only said again may have left before. */
  const isGrantUnsent = (w: World): boolean =>
    w.pending.some(({ rec, outs, isTold }, at) => {
      const before = w.pending[at - 1]?.rec ?? w.disk;
      const isClaim = rec.phase === 'granted' && before?.phase === 'offered';
      return isClaim && !isTold && outs.some((out) => out.includes(' granted '));
    });

  const others = (w: World): Instance[] => INSTANCES.filter((i) => w.serves[i]);

  return {
    offer,
    answered,
    hello,
    tell,
    claimed(w: World, i: Instance, attempt: number) {
      const from = answerer(w, i, attempt);
      const out = `c ${i} ${w.live[i]} granted ${attempt} -`;
      const moved = apply(w, { type: 'claimed', from }, [out]);
      if (moved.ok) return;
      // A claim that comes twice gets its grant twice, once that is on disk.
      if (moved.refusal === 'already_granted' && bounds.claims) afterAll(w, out);
      else say(w, `c ${i} ${w.live[i]} refused ${attempt} -`);
    },
    /** The instance's socket is gone: what nobody has started goes to another at once. */
    gone(w: World, i: Instance) {
      Object.assign(w, { live: { ...w.live, [i]: 0 }, serves: { ...w.serves, [i]: false } });
      w.owed[i] = null;
      const { provider, granted, phase } = w.rec;
      if (provider?.instanceId !== i || granted || phase !== 'offered') return;
      for (const other of others(w)) if (offer(w, other, null)) return;
    },
    /** The clocks that may run out now, besides `start`, which only offers again. */
    clocks({ rec, live, isForgotten }: World): CallClock[] {
      if (isForgotten || isFinalStatus(rec.status)) return [];
      const isAway = rec.provider !== null && live[rec.provider.instanceId as Instance] === 0;
      const waits = isAway && (bounds.claims || rec.rerunnable) && rec.phase !== 'queued';
      return [
        ...(rec.phase === 'queued' || (rec.phase === 'offered' && bounds.claims)
          ? ['queue' as const]
          : []),
        ...(rec.phase === 'granted' || (rec.phase === 'offered' && !bounds.claims)
          ? ['execute' as const]
          : []),
        ...(rec.phase === 'cancelling' ? ['cancel' as const] : []),
        ...(waits ? ['resume' as const] : []),
      ];
    },
    end(w: World, event: StateEvent) {
      const i = w.rec.provider?.instanceId as Instance | undefined;
      apply(w, event, i === undefined ? [] : [`c ${i} ${w.live[i]} cancel 0 -`]);
    },
    cancel(w: World) {
      const isUnsent =
        w.rec.phase === 'granted' && (design.cancels === 'what was granted' || isGrantUnsent(w));
      this.end(w, { type: 'cancelled', reason: '', isUnsent });
    },
    canBeOffered: others,
  };
}
