import type { Patch } from '../build-variant.ts';

/** A guard taken out on purpose: the scenario that rests on it must turn red. */
export interface Mutant {
  readonly name: string;
  /** The id of the scenario that has to notice. */
  readonly scenario: string;
  readonly patches: readonly Patch[];
  /** Also tried in the short run, within `npm test`. */
  readonly inShort?: true;
}
