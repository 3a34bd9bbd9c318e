import { createHash } from 'node:crypto';
import { canonicalJson } from '#lib/json/equal';
import type { WireCallRecord } from '#lib/protocol/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';

/** By this clients mark what they send. */
export const hashOf = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, 16);

/** The end of a call, as far as it may never change again. */
export const endOf = ({ status, result, error }: WireCallRecord): string =>
  `${status} ${hashOf(result)} ${error ? `${error.code} ${error.executed}` : '-'}`;

export interface AcceptedCall {
  readonly key: string;
  readonly tool: string;
  readonly nonce: string;
}

/** The witness keeps what callers were told; no fault touches it. */
export interface Witness {
  /** A 202 or 200 came: from now on the call must never be missing. */
  accepted(id: string, call: AcceptedCall): void;
  /** A record was read. */
  saw(record: WireCallRecord): void;
  refused(what: string): void;
  readonly calls: ReadonlyMap<string, AcceptedCall>;
  /** By call, each end that was read of it. */
  readonly ends: ReadonlyMap<string, ReadonlySet<string>>;
  /** By idempotency key, each call that it was answered with. */
  readonly keys: ReadonlyMap<string, ReadonlySet<string>>;
  readonly refusals: ReadonlyMap<string, number>;
}

export function createWitness(): Witness {
  const calls = new Map<string, AcceptedCall>();
  const ends = new Map<string, Set<string>>();
  const keys = new Map<string, Set<string>>();
  const refusals = new Map<string, number>();
  return {
    calls,
    ends,
    keys,
    refusals,
    accepted(id, call) {
      calls.set(id, call);
      note(keys, call.key, id);
    },
    saw(record) {
      if (isFinalStatus(record.status)) note(ends, record.tool_call_id, endOf(record));
    },
    refused(what) {
      refusals.set(what, (refusals.get(what) ?? 0) + 1);
    },
  };
}

function note(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key);
  if (set) set.add(value);
  else sets.set(key, new Set([value]));
}
