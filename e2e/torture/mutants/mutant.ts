import type { Patch } from '../patch.ts';
import type { Invariant } from '../scenario.ts';

/** A guard taken out on purpose: the scenario that rests on it must turn red, at the first run. */
export interface Mutant {
  readonly name: string;
  /** The id of the scenario that has to notice. It leads to the guard by order, not by chance. */
  readonly scenario: string;
  /** The scenario has to find this broken. Anything else that goes wrong in the run proves nothing of the guard. */
  readonly breaks: Exclude<Invariant, 'RUN'>;
  readonly patches: readonly Patch[];
  /** Also tried in the short run, within `npm test`. */
  readonly inShort?: true;
}

export const mutant = (
  scenario: string,
  breaks: Mutant['breaks'],
  name: string,
  patches: readonly Patch[],
): Mutant => ({ name, scenario, breaks, patches });

/** One that is also tried in the short run. */
export const quick = (...given: Parameters<typeof mutant>): Mutant => ({
  ...mutant(...given),
  inShort: true,
});
