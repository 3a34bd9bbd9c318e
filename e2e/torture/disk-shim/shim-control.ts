import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { constants } from 'node:os';

/** The offsets are those of `struct control` in `shim.c`. */
const FIELDS = [
  'clockOffsetNs',
  'countdown',
  'error',
  'sticky',
  'isShort',
  'kinds',
  'room',
  'counted',
  'failed',
] as const;
type Field = (typeof FIELDS)[number];

const KINDS = { writes: 1, syncs: 2, truncates: 4 };
const ALL_KINDS = KINDS.writes | KINDS.syncs | KINDS.truncates;

export interface Failure {
  /** The first call that fails, counted from now. */
  readonly atCall: number;
  readonly error: 'EIO' | 'ENOSPC';
  /** All after it, too. */
  readonly isSticky: boolean;
  /** Half of a write is done first. */
  readonly isShort: boolean;
}

/** A process under the shim is made to see this; it takes effect at once. */
export interface ShimControl {
  readonly file: string;
  moveClock(ms: number): void;
  fail(failure: Failure): void;
  /** How many bytes the files may still grow by; undefined: as many as they like. */
  setRoom(bytes: number | undefined): void;
  heal(): void;
  /** Calls since the last `fail` that could have failed, and those that did. */
  readonly counted: number;
  readonly failed: number;
}

export function createShimControl(file: string): ShimControl {
  writeFileSync(file, Buffer.alloc(FIELDS.length * 8));
  const at = (field: Field) => FIELDS.indexOf(field) * 8;

  function set(field: Field, value: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(Math.round(value)));
    const handle = openSync(file, 'r+');
    writeSync(handle, bytes, 0, 8, at(field));
    closeSync(handle);
  }

  function get(field: Field): number {
    const bytes = Buffer.alloc(8);
    const handle = openSync(file, 'r');
    readSync(handle, bytes, 0, 8, at(field));
    closeSync(handle);
    return Number(bytes.readBigInt64LE());
  }

  function heal(): void {
    for (const field of ['kinds', 'countdown', 'sticky', 'isShort'] as const) set(field, 0);
    set('room', -1);
  }

  heal();
  return {
    file,
    heal,
    moveClock: (ms) => set('clockOffsetNs', ms * 1e6),
    fail({ atCall, error, isSticky, isShort }) {
      set('kinds', 0);
      for (const field of ['counted', 'failed'] as const) set(field, 0);
      set('error', constants.errno[error]);
      set('sticky', isSticky ? 1 : 0);
      set('isShort', isShort ? 1 : 0);
      set('countdown', atCall);
      set('kinds', ALL_KINDS);
    },
    setRoom: (bytes) => set('room', bytes ?? -1),
    get counted() {
      return get('counted');
    },
    get failed() {
      return get('failed');
    },
  };
}
