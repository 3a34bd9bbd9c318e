import { decide } from '#lib/call/decide';
import type { Effect, EffectBarrier } from '#lib/call/effects';

/** The rules that a world goes by: the real ones, or broken ones. */
export interface Design {
  readonly decide: typeof decide;
  /** What an effect waits for; the real one is what `decide` says. */
  barrier(real: EffectBarrier, effect: Effect): EffectBarrier;
  /** When what follows from a decision is told to anybody. */
  readonly tells: 'once on disk' | 'when decided' | 'when written, not flushed';
  /** When a client that is back may delete what it has of a call that ended. */
  readonly forgets: 'once on disk' | 'when decided';
  /** What a claim or an answer must name to count. */
  readonly matches: 'instance and attempt' | 'the call alone';
  /** What proves that a granted call was never started. */
  readonly proof: 'of that attempt' | 'of any attempt' | 'not asked for';
  /** Whose word counts of what the tool does. */
  readonly says: 'what each says itself' | 'what the first said';
  readonly runs: 'when granted' | 'when offered';
  readonly journal: 'before the run' | 'after the run';
  /** A repeated offer of what was run already. */
  readonly repeats: 'answers from the journal' | 'runs it again';
  readonly lostJournal: 'has a new epoch' | 'keeps its epoch';
  readonly recovery: 'takes up open calls' | 'forgets them';
  /** What a cancel may still take back. */
  readonly cancels: 'what has not left' | 'what was granted';
}

/** As it is built. */
export const realDesign: Design = {
  decide,
  barrier: (real) => real,
  tells: 'once on disk',
  forgets: 'once on disk',
  matches: 'instance and attempt',
  proof: 'of that attempt',
  says: 'what each says itself',
  runs: 'when granted',
  journal: 'before the run',
  repeats: 'answers from the journal',
  lostJournal: 'has a new epoch',
  recovery: 'takes up open calls',
  cancels: 'what has not left',
};

const withoutTerminalGuard: typeof decide = (call, event, now) => {
  const isFinal = call.phase === null;
  return decide(isFinal ? { ...call, status: 'RUNNING', phase: 'granted' } : call, event, now);
};

/** A lost outcome is taken for one that was never started. */
const withoutLostOutcome: typeof decide = (call, event, now) =>
  event.type === 'client_back' && event.knowledge !== 'running' && event.knowledge !== 'done'
    ? decide(call, { ...event, knowledge: 'nothing' }, now)
    : decide(call, event, now);

/** What a start finds offered is taken for not granted. */
const withoutPossibleGrants: typeof decide = (call, event, now) => {
  const decision = decide(call, event, now);
  if (event.type !== 'recovered' || !decision.ok || call.phase !== 'offered') return decision;
  return { ...decision, record: { ...decision.record, granted: call.granted } };
};

/** One guard taken out of each; the model must tell why it is there. */
export const brokenDesigns: Readonly<Record<string, Partial<Design>>> = {
  'no claim before a run': { runs: 'when offered' },
  'tells before it writes': { tells: 'when decided' },
  'writes without fsync': { tells: 'when written, not flushed' },
  'matches claims and answers by id alone': { matches: 'the call alone' },
  'no guard on final states': { decide: withoutTerminalGuard },
  'has a client forget an end that is not on disk': { forgets: 'when decided' },
  'offers again without proof': { proof: 'not asked for' },
  'the first client’s word counts for all': { says: 'what the first said' },
  'a proof outlives its attempt': { proof: 'of any attempt' },
  'journal written after the run': { journal: 'after the run' },
  'runs again what it ran already': { repeats: 'runs it again' },
  'a lost journal keeps its epoch': { lostJournal: 'keeps its epoch' },
  'recovery forgets open calls': { recovery: 'forgets them' },
  'a cancel takes back a grant that has left': { cancels: 'what was granted' },
  'a lost outcome is offered again': { decide: withoutLostOutcome, proof: 'not asked for' },
  'a grant leaves before the call is on disk': {
    barrier: (real, { type }) => (type === 'grant' ? 'nothing' : real),
  },
  'offers early to any client': {
    barrier: (real, { type }) => (type === 'request' ? 'nothing' : real),
  },
  'what may be repeated is asked for again before that is on disk': {
    barrier: (real) => (real === 'creation' ? 'nothing' : real),
  },
  'a start takes offers for not granted': { decide: withoutPossibleGrants },
};
