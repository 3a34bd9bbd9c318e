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

/** The kind of the error; undefined when SQLite did not throw it. */
function kindOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  // The low byte is the kind; the rest says more about it.
  return Number(error.errcode) & 0xff;
}

/** While a file is only read: SQLite refuses its content, so it is not what we wrote. */
export function isDamage(error: unknown): error is Error {
  // An integer that is larger than any of ours.
  if (error instanceof Error && 'code' in error && error.code === 'ERR_OUT_OF_RANGE') return true;
  const kind = kindOf(error);
  return kind !== undefined && !OF_THE_MACHINE.has(kind);
}
