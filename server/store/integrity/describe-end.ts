import { StoreNotMovedError } from '../before-log/older-file.ts';
import { DataDirInUseError, DataDirUnusableError } from '../data-dir.ts';
import { StoreTooNewError } from '../migrate.ts';
import { isDiskTrouble, StoreDamagedError, StoreFailedError } from '../store-errors.ts';

/** By what number a supervisor knows why the server ended (as in sysexits.h). */
export const EXIT = {
  mendable: 1,
  /** The disk is full or broken: a start at a later time takes up what was open. */
  storeFailed: 74,
  /** Another server has the data directory. */
  inUse: 75,
  /** The store is damaged: no start will do before a person has decided. */
  storeDamaged: 78,
} as const;

/**
 * An error that a person can mend is one line and a number; anything else is a defect, and
 * has no line. `others` are the errors of other parts that a person can mend.
 */
export function describeEnd(
  error: unknown,
  others: readonly (new (message: string) => Error)[],
): { code: number; line?: string } {
  if (!(error instanceof Error)) return { code: EXIT.mendable };
  const line = error.message;
  if (error instanceof StoreDamagedError) return { code: EXIT.storeDamaged, line };
  if (error instanceof DataDirInUseError) return { code: EXIT.inUse, line };
  if (error instanceof StoreFailedError) return { code: EXIT.storeFailed, line };
  if (isDiskTrouble(error)) {
    return {
      code: EXIT.storeFailed,
      line: `the data directory cannot be written (${line}); make room, or mend the disk`,
    };
  }
  const mendable = [DataDirUnusableError, StoreTooNewError, StoreNotMovedError, ...others];
  return mendable.some((kind) => error instanceof kind)
    ? { code: EXIT.mendable, line }
    : { code: EXIT.mendable };
}
