import type { WireCallRecord } from '#lib/protocol/call-record';
import { toCardStatus } from '#lib/protocol/call-status';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Violation } from '../scenario.ts';
import type { ClientFacts } from './client-facts.ts';
import { endOf, hashOf, type Witness } from './witness.ts';

export interface Facts {
  /** Every call on record, after all has come to rest. */
  readonly records: ReadonlyMap<string, WireCallRecord>;
  readonly witness: Witness;
  readonly clients: readonly ClientFacts[];
  /** By call, how often its effect was done. */
  readonly effects: ReadonlyMap<string, number>;
  /** By call, the card's status that a watcher was shown last. */
  readonly shown: ReadonlyMap<string, string>;
}

const HAS_EFFECT = /^effect/;

/** The plan's I1 to I7, I10 and I11 are held against what was seen from outside. */
export function checkInvariants(facts: Facts): Violation[] {
  return [
    ...acceptedAreThere(facts),
    ...acknowledgedStand(facts),
    ...endsStand(facts),
    ...allEnded(facts),
    ...effectsFit(facts),
    ...shownIsTrue(facts),
    ...answersAreTheirOwn(facts),
  ];
}

function* acceptedAreThere({ records, witness }: Facts): Generator<Violation> {
  const gone = [...witness.calls].filter(([id]) => !records.has(id));
  if (gone.length > 0) {
    const which = gone.slice(0, 5).map(([id, { key, tool }]) => `${id} (${tool}, ${key})`);
    const detail = `${gone.length} of ${witness.calls.size} accepted calls are gone: ${which.join(', ')}`;
    yield { invariant: 'I1', detail };
  }
  const byNonce = Map.groupBy(records.values(), ({ args }) => String(args.nonce ?? ''));
  for (const [nonce, calls] of byNonce) {
    if (nonce === '' || calls.length === 1) continue;
    const ids = calls.map(({ tool_call_id }) => tool_call_id).join(', ');
    yield { invariant: 'I5', detail: `key ${nonce} made ${calls.length} calls: ${ids}` };
  }
  for (const [key, ids] of witness.keys) {
    if (ids.size > 1)
      yield {
        invariant: 'I1',
        detail: `key ${key} gave ${ids.size} calls: ${[...ids].join(', ')}`,
      };
  }
}

function* acknowledgedStand({ records, clients }: Facts): Generator<Violation> {
  for (const { name, acknowledged } of clients) {
    for (const { id, disposition, hash } of acknowledged) {
      const record = records.get(id);
      const detail = `${id}: ${name} was told "${disposition}" for the answer ${hash}, and`;
      if (!record) yield { invariant: 'I2', detail: `${detail} the call is gone` };
      else if (disposition === 'late') {
        if (record.late_result === null)
          yield { invariant: 'I2', detail: `${detail} no late result is kept` };
      } else if (!isFinalStatus(record.status) || answerHash(record) !== hash) {
        const is = `${record.status} with ${answerHash(record)}`;
        yield { invariant: 'I2', detail: `${detail} the call is ${is}` };
      }
    }
  }
}

/** The hash of the answer that the record came to, as the client would have sent it. */
const answerHash = ({ status, result, error }: WireCallRecord): string =>
  hashOf(status === 'SUCCEEDED' ? result : { error: error?.message });

function* endsStand({ records, witness }: Facts): Generator<Violation> {
  for (const [id, ends] of witness.ends) {
    const record = records.get(id);
    const all = new Set([...ends, ...(record ? [endOf(record)] : [])]);
    if (all.size > 1)
      yield { invariant: 'I3', detail: `${id} ended as ${[...all].join(' and then as ')}` };
  }
}

function* allEnded({ records }: Facts): Generator<Violation> {
  for (const { tool_call_id: id, status, phase, created_at, card } of records.values()) {
    if (isFinalStatus(status)) continue;
    const clock = JSON.stringify(card.clock ?? null);
    const detail = `${id} is ${status}/${phase}, made ${new Date(created_at * 1000).toISOString()}, clock ${clock}`;
    yield { invariant: 'I4', detail };
  }
}

function* effectsFit({ records, effects }: Facts): Generator<Violation> {
  for (const [id, count] of effects) {
    if (count > 1) yield { invariant: 'I5', detail: `${id} was done ${count} times` };
    if (!records.has(id)) yield { invariant: 'I1', detail: `${id} was done and is not on record` };
  }
  for (const { tool_call_id: id, tool_name, status, error } of records.values()) {
    if (!HAS_EFFECT.test(tool_name)) continue;
    const count = effects.get(id) ?? 0;
    if (status === 'SUCCEEDED' && count !== 1)
      yield { invariant: 'I6', detail: `${id} succeeded and was done ${count} times` };
    if (error?.executed === 'no' && count > 0)
      yield { invariant: 'I7', detail: `${id} ended ${error.code}, "not executed", and was done` };
  }
}

function* shownIsTrue({ records, shown }: Facts): Generator<Violation> {
  for (const [id, status] of shown) {
    const record = records.get(id);
    const is = record && toCardStatus(record.status);
    if (!record) yield { invariant: 'I10', detail: `${id} was shown to watchers and is gone` };
    else if ((status === 'SUCCESS' || status === 'ERROR') && status !== is)
      yield { invariant: 'I10', detail: `${id} was shown as ${status} and is ${is}` };
  }
}

/** Each answer names the call, the client and the caller's number that it was made for. */
function* answersAreTheirOwn({ records, clients, witness }: Facts): Generator<Violation> {
  const clientIds = new Map(clients.map(({ name, clientIds }) => [name, clientIds]));
  for (const { tool_call_id: id, status, source, result, client_id } of records.values()) {
    if (status !== 'SUCCEEDED' || source !== 'client') continue;
    const { call, by, nonce } = (result ?? {}) as { call?: string; by?: string; nonce?: string };
    const asked = witness.calls.get(id)?.nonce ?? nonce;
    const isTheClients = client_id !== null && clientIds.get(by ?? '')?.has(client_id);
    if (call !== id || nonce !== asked || !isTheClients) {
      const detail = `${id} (${asked}, for ${client_id}) has the answer of ${by} to ${call} (${nonce})`;
      yield { invariant: 'I11', detail };
    }
  }
}
