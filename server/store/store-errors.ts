export class StoreFailedError extends Error {
  override readonly name = 'StoreFailedError';
}

/** An event does not follow the newest one that is stored. Nothing of its write is stored; others are. */
export class VersionConflictError extends Error {
  override readonly name = 'VersionConflictError';

  readonly callId: string;
  /** Of the event. */
  readonly version: number;
  /** Of the newest event that is stored. */
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

const DISK_CODES = new Set(['ENOSPC', 'EIO', 'EDQUOT', 'EFBIG']);
/** SQLite's own numbers for an I/O error and a full disk (sqlite.org/rescode.html). */
const DISK_NUMBERS = new Set([10, 13]);

/** The disk is full or broken: another time it may not be. */
export function isDiskTrouble(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // The low byte is the kind; the rest says more about it.
  if ('errcode' in error && DISK_NUMBERS.has(Number(error.errcode) & 0xff)) return true;
  return 'code' in error && DISK_CODES.has(String(error.code));
}
