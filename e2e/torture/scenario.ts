import type { Build } from './build-variant.ts';
import type { Patch } from './patch.ts';
import type { Random } from './random.ts';

/**
 * What a run can break (invariants I1 to I16 of the plan); `HEALTH` is a server that died, hung or
 * stalled, `RUN` a harness that could not go on, which is a failure and shows nothing of a guard.
 */
export type Invariant =
  | 'I1' // each accepted call is there
  | 'I2' // each acknowledged result is final, and the same
  | 'I3' // a final state never changes
  | 'I4' // no call stays open past its clocks plus 5 s
  | 'I5' // effects of a call with effects: at most one
  | 'I6' // succeeded: exactly one effect
  | 'I7' // `executed: "no"`, or timed out before its grant: no effect
  | 'I8' // the model sees exactly one result for each call
  | 'I9' // watchers see no gap but with a snapshot
  | 'I10' // watchers see nothing that is not on disk
  | 'I11' // a result came from the instance and attempt that was asked
  | 'I13' // memory and handles come back
  | 'I14' // the registry is what the living clients offer
  | 'I15' // of what is written at once all is there, or nothing
  | 'I16' // what follows from the log is the same when it is made anew
  | 'HEALTH'
  | 'RUN';

export interface Violation {
  readonly invariant: Invariant;
  /** The detail says what was seen, with ids and numbers, and what should have been. */
  readonly detail: string;
}

/** A scenario reports this; it has told its context already of anything that broke. */
export interface Played {
  /** The figures of what was done and seen, by name: `accepted`, `acknowledged`, `lost` … The report keeps them. */
  readonly figures: Readonly<Record<string, number>>;
  /** One sentence with the figures, for people: "200 × kill -9: 4,475 accepted, 0 lost". */
  readonly summary: string;
  /** Why it, or a part of it, could not be done on this machine. Never a reason to call it passed. */
  readonly notDone?: string;
}

export interface Outcome extends Played {
  /** Empty when all holds. */
  readonly violations: readonly Violation[];
}

/** Says that something was seen which must not be. */
export type Bad = (invariant: Invariant, detail: string) => void;

export interface TortureContext {
  /** This scenario's own; the same seed gives the same choices. */
  readonly random: Random;
  /** The server and the client program under test, as built or broken on purpose. */
  readonly build: Build;
  /** How many rounds: `full` in the long run (scaled by `--cycles`), `short` in `npm test` and for mutants. */
  rounds(counts: { readonly full: number; readonly short: number }): number;
  readonly isShort: boolean;
  /** A browser, where there is one. */
  readonly chromium: string | undefined;
  /** A folder of this scenario's own; removed after it. */
  tempDir(): Promise<string>;
  /** Progress, to standard error. */
  say(line: string): void;
  readonly bad: Bad;
  /** Violations seen so far count even when the scenario stops before its end. */
  readonly violations: readonly Violation[];
}

/** One fault, or a family of them, of the plan: what is done to the real thing, and what must hold. */
export interface Scenario {
  /** The faults of the plan that it covers: `F01`, `F05+F17`. */
  readonly id: string;
  readonly name: string;
  /** `npm test` runs it, with its quickest mutants: those that protect most for their time. */
  readonly inShort?: true;
  /** Places changed in the build that it runs on, beside those of a mutant: gates, named points. */
  patches?(options: { readonly isShort: boolean }): readonly Patch[];
  run(context: TortureContext): Promise<Played>;
}
