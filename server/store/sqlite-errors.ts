/** SQLite's own numbers (sqlite.org/rescode.html): what a working file on a failing machine gives. */
const OF_THE_MACHINE = new Set([
  5, // BUSY
  6, // LOCKED
  7, // NOMEM
  8, // READONLY
  9, // INTERRUPT
  10, // IOERR
  13, // FULL
  14, // CANTOPEN
]);

/** IOERR_SHORT_READ: the file ends before what it tells of. */
const SHORT_READ = 522;

/** Undefined when SQLite did not throw the error. */
const numberOf = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) : undefined;

export const isShortRead = (error: unknown): boolean => numberOf(error) === SHORT_READ;

/** While a file is only read: SQLite refuses its content, so it is not what we wrote. */
export function isDamage(error: unknown): error is Error {
  // An integer that is larger than any of ours.
  if (error instanceof Error && 'code' in error && error.code === 'ERR_OUT_OF_RANGE') return true;
  const number = numberOf(error);
  if (number === undefined) return false;
  // The low byte is the kind; the rest says more about it.
  return number === SHORT_READ || !OF_THE_MACHINE.has(number & 0xff);
}
