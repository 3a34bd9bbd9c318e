export class StoreFailedError extends Error {
  override readonly name = 'StoreFailedError';
}

/** An event does not follow the newest one that is stored. Nothing of its write is stored; others are. */
export class VersionConflictError extends Error {
  override readonly name = 'VersionConflictError';

  readonly callId: string;
  readonly version: number;
  /** The version of the newest event that is stored. */
  readonly stored: number;

  constructor(callId: string, version: number, stored: number) {
    super(`the event ${version} of ${callId} does not follow the version ${stored} that is stored`);
    this.callId = callId;
    this.version = version;
    this.stored = stored;
  }
}

export class BadCursorError extends Error {
  override readonly name = 'BadCursorError';
}

/** A search of more words than one may have; the message says how many. */
export class BadSearchError extends Error {
  override readonly name = 'BadSearchError';
}

/** A list or a search was not answered in its time; another one, or a later one, may be. */
export class StoreBusyError extends Error {
  override readonly name = 'StoreBusyError';
}

/** One row is not as it was written, so it is shown to nobody. */
export class RowDamagedError extends Error {
  override readonly name = 'RowDamagedError';

  constructor(table: string, key: string) {
    super(`the row ${key} of ${table} is damaged: its checksum is wrong`);
  }
}

/**
 * The database cannot be trusted, and nothing was opened or changed. The message
 * names the file, the place, and the ways out.
 */
export class StoreDamagedError extends Error {
  override readonly name = 'StoreDamagedError';

  constructor(file: string, problem: string, options?: ErrorOptions) {
    super(
      `the database ${file} is damaged: ${problem}; start with --salvage to keep all that can be read, or restore a copy`,
      options,
    );
  }
}

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
const OF_THE_DISK = new Set([10, 13]);
const DISK_CODES = new Set<unknown>(['ENOSPC', 'EIO', 'EDQUOT', 'EFBIG']);
/** IOERR_SHORT_READ: the file ends before what it tells of. */
const SHORT_READ = 522;

/** Undefined when SQLite did not throw the error. */
const numberOf = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) : undefined;

/** The low byte of a number is the kind; the rest says more about it. */
const isOneOf = (numbers: ReadonlySet<number>, number: number): boolean =>
  numbers.has(number & 0xff);

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

export const isShortRead = (error: unknown): boolean => numberOf(error) === SHORT_READ;

/** While a file is only read: SQLite refuses its content, so it is not what we wrote. */
export function isDamage(error: unknown): error is Error {
  // An integer that is larger than any of ours.
  if (codeOf(error) === 'ERR_OUT_OF_RANGE') return true;
  const number = numberOf(error);
  return number !== undefined && (number === SHORT_READ || !isOneOf(OF_THE_MACHINE, number));
}

/** The disk is full or broken: another time it may not be. */
export const isDiskTrouble = (error: unknown): boolean =>
  isOneOf(OF_THE_DISK, numberOf(error) ?? 0) || DISK_CODES.has(codeOf(error));

/** Somebody else has locked the file. */
export const isLocked = (error: unknown): boolean => isOneOf(new Set([5]), numberOf(error) ?? 0);
