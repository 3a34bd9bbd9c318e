import { parseArgs } from 'node:util';

export interface TortureOptions {
  readonly seed: string;
  /** Rounds of kill -9; the other scenarios' rounds follow in proportion. */
  readonly cycles: number;
  /** Ids of scenarios; all when empty. */
  readonly only: readonly string[];
  readonly isShort: boolean;
  /** Words in the names of mutants: nothing else is run then. */
  readonly mutant: string | undefined;
  /** A file for the report as JSON; printed when there is none. */
  readonly report: string | undefined;
}

/** The rounds that the plan's figures stand for. */
export const FULL_CYCLES = 200;

/** The choices that there are. */
export interface Choices {
  newSeed(): string;
  readonly scenarios: readonly string[];
  readonly mutants: readonly string[];
}

/** Throws with what is wrong and what would be right: nothing at all is run and reported by a slip. */
export function readOptions(args: readonly string[], choices: Choices): TortureOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string' },
      cycles: { type: 'string' },
      only: { type: 'string' },
      short: { type: 'boolean' },
      mutant: { type: 'string' },
      report: { type: 'string' },
    },
  });
  const cycles = Number(values.cycles ?? FULL_CYCLES);
  if (!Number.isInteger(cycles) || cycles < 1) {
    throw new Error(`--cycles was "${values.cycles}"; it is a whole number from 1 on`);
  }
  const only = values.only?.split(',') ?? [];
  const unknown = only.find((id) => !choices.scenarios.includes(id));
  if (unknown !== undefined) {
    throw new Error(`--only has "${unknown}"; there is ${choices.scenarios.join(', ')}`);
  }
  const { mutant } = values;
  if (mutant !== undefined && !choices.mutants.some((name) => name.includes(mutant))) {
    throw new Error(`no mutant has "${mutant}" in its name`);
  }
  return {
    seed: values.seed ?? choices.newSeed(),
    cycles,
    only,
    isShort: values.short ?? false,
    mutant,
    report: values.report,
  };
}
