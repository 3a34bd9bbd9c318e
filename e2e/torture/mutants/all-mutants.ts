import { CRASH_MUTANTS } from './crash-mutants.ts';
import { LOAD_MUTANTS } from './load-mutants.ts';
import { MESSAGE_MUTANTS } from './message-mutants.ts';
import type { Mutant } from './mutant.ts';
import { NETWORK_MUTANTS } from './network-mutants.ts';
import { PAGE_MUTANTS } from './page-mutants.ts';

/** Every guard, once. */
export const MUTANTS: readonly Mutant[] = [
  ...CRASH_MUTANTS,
  ...NETWORK_MUTANTS,
  ...MESSAGE_MUTANTS,
  ...LOAD_MUTANTS,
  ...PAGE_MUTANTS,
];
