import type { Call } from '#lib/call/call';
import { decide } from '#lib/call/decide';
import type { Effect, EffectBarrier } from '#lib/call/effects';
import {
  hasUnsentStart,
  isStillWanted,
  recoveredByVoid,
  takeDecided,
  takePending,
} from '#lib/call/engine-loop';
import { foldEvent } from '#lib/call/fold';

interface Loop {
  readonly takeDecided: typeof takeDecided;
  readonly takePending: typeof takePending;
  readonly isStillWanted: typeof isStillWanted;
  readonly hasUnsentStart: typeof hasUnsentStart;
  readonly recoveredByVoid: typeof recoveredByVoid;
}

/** The rules that a world goes by: the real ones, or broken ones. */
export interface Design {
  readonly decide: typeof decide;
  /** These parts of the engine's loop can be broken without the rest of it. */
  readonly loop: Loop;
  /** When what follows from a decision is told to anybody. */
  readonly tells: 'once on disk' | 'when decided' | 'when written, not flushed';
  /** When a client that is back may delete what it has of a call that ended. */
  readonly forgets: 'once on disk' | 'when decided';
  /** A claim or an answer must name this to count. */
  readonly matches: 'instance and attempt' | 'the call alone';
  /** This proves that a granted call was never started. */
  readonly proof: 'of that attempt' | 'of any attempt' | 'not asked for';
  /** Whose word counts of what the tool does. */
  readonly says: 'what each says itself' | 'what the first said';
  readonly runs: 'when granted' | 'when offered';
  readonly journal: 'before the run' | 'after the run';
  /** A repeated offer of what was run already. */
  readonly repeats: 'answers from the journal' | 'runs it again';
  readonly lostJournal: 'has a new epoch' | 'keeps its epoch';
  /** This becomes of what waited for an append that the store refused. */
  readonly voids: 'do not happen' | 'happen';
  readonly recovery: 'takes up open calls' | 'forgets them';
  /** How a call comes back from its log. */
  readonly fold: typeof foldEvent;
  /** A commit whose answer is lost passes for this: it is on disk, or not. */
  readonly unknown: 'for nothing' | 'for stored' | 'for not stored';
  /** A server that can write nothing more, until it is started again. */
  readonly failed: 'closes its lines' | 'hears its clients';
  /** A server that is started again takes this for the state of a call. */
  readonly startsFrom: 'the log' | 'what was in memory';
}

const realLoop: Loop = {
  takeDecided,
  takePending,
  isStillWanted,
  hasUnsentStart,
  recoveredByVoid,
};

/** The design as it is built. */
export const realDesign: Design = {
  decide,
  loop: realLoop,
  tells: 'once on disk',
  forgets: 'once on disk',
  matches: 'instance and attempt',
  proof: 'of that attempt',
  says: 'what each says itself',
  runs: 'when granted',
  journal: 'before the run',
  repeats: 'answers from the journal',
  lostJournal: 'has a new epoch',
  voids: 'do not happen',
  recovery: 'takes up open calls',
  fold: foldEvent,
  unknown: 'for nothing',
  failed: 'closes its lines',
  startsFrom: 'the log',
};

const withoutTerminalGuard: typeof decide = (call, event, now) => {
  const isFinal = call.phase === null;
  const reopened = { ...call, status: 'RUNNING', phase: 'granted' } as Call;
  return decide(isFinal ? reopened : call, event, now);
};

/** A lost outcome is taken for one that was never started. */
const withoutLostOutcome: typeof decide = (call, event, now) =>
  event.type === 'client_back' && event.knowledge !== 'running' && event.knowledge !== 'done'
    ? decide(call, { ...event, knowledge: 'nothing' }, now)
    : decide(call, event, now);

/** A start takes what it finds offered for not granted. */
const withoutPossibleGrants: typeof decide = (call, event, now) => {
  const decision = decide(call, event, now);
  if (event.type !== 'recovered' || !decision.ok || call.phase !== 'offered') return decision;
  return { ...decision, record: { ...decision.record, granted: call.granted } as Call };
};

/** An answer after the end of a call ends it once more. */
const withLateResults: typeof decide = (call, event, now) => {
  const decision = decide(call, event, now);
  if (event.type !== 'late_answer' || !decision.ok || event.error) return decision;
  const { lateResult: result } = decision.record;
  const ended = { ...decision.record, status: 'SUCCEEDED', error: undefined, result } as Call;
  return { ...decision, record: ended };
};

/** The log does not say this of a call. */
const withoutGranted: typeof foldEvent = (before, { patch: { granted: _, ...patch }, ...entry }) =>
  foldEvent(before, { ...entry, patch });

/** An effect waits for something else than the rules say. */
const withBarrier =
  (change: (real: EffectBarrier, effect: Effect) => EffectBarrier): typeof decide =>
  (call, event, now) => {
    const decision = decide(call, event, now);
    if (!decision.ok) return decision;
    const effects = decision.effects.map((effect) =>
      'after' in effect ? { ...effect, after: change(effect.after, effect) } : effect,
    );
    return { ...decision, effects };
  };

const withLoop = (broken: Partial<Loop>): Partial<Design> => ({ loop: { ...realLoop, ...broken } });

/** One guard taken out of each; the model must tell why it is there. */
export const brokenDesigns: Readonly<Record<string, Partial<Design>>> = {
  'no claim before a run': { runs: 'when offered' },
  'tells before it writes': { tells: 'when decided' },
  'writes without fsync': { tells: 'when written, not flushed' },
  'matches claims and answers by id alone': { matches: 'the call alone' },
  'no guard on final states': { decide: withoutTerminalGuard },
  'a late answer becomes the result': { decide: withLateResults },
  'has a client forget an end that is not on disk': { forgets: 'when decided' },
  'offers again without proof': { proof: 'not asked for' },
  'the first client’s word counts for all': { says: 'what the first said' },
  'a proof outlives its attempt': { proof: 'of any attempt' },
  'journal written after the run': { journal: 'after the run' },
  'runs again what it ran already': { repeats: 'runs it again' },
  'a lost journal keeps its epoch': { lostJournal: 'keeps its epoch' },
  'recovery forgets open calls': { recovery: 'forgets them' },
  'a cancel takes back a grant that has left': withLoop({
    hasUnsentStart: ({ latest }) => latest.phase === 'granted',
  }),
  'a lost outcome is offered again': { decide: withoutLostOutcome, proof: 'not asked for' },
  'a grant leaves before the call is on disk': {
    decide: withBarrier((real, { type }) => (type === 'grant' ? 'nothing' : real)),
  },
  'offers early to any client': {
    decide: withBarrier((real, { type }) => (type === 'request' ? 'nothing' : real)),
  },
  'what may be repeated is asked for again before that is on disk': {
    decide: withBarrier((real) => (real === 'creation' ? 'nothing' : real)),
  },
  'starts the server’s tool before that is on disk': {
    decide: withBarrier((real, { type }) => (type === 'run' ? 'nothing' : real)),
  },
  'starts what ended while its start waited': withLoop({ isStillWanted: () => true }),
  'no effect waits for the disk': withLoop({
    takeDecided: (...decided) => takeDecided(...decided).map((one) => ({ ...one, after: 0 })),
  }),
  'effects of an append that was refused happen': { voids: 'happen' },
  'a start takes offers for not granted': { decide: withoutPossibleGrants },
  'the log does not say that a call was granted': { fold: withoutGranted },
  'a lost answer of a commit passes for a good one': { unknown: 'for stored' },
  'a lost answer of a commit passes for a refusal': { unknown: 'for not stored' },
  'a server that can write nothing more answers its clients': { failed: 'hears its clients' },
  'a start trusts what was in memory of a lost answer': { startsFrom: 'what was in memory' },
  'a start whose event was refused forgets it': withLoop({ recoveredByVoid: () => undefined }),
};
