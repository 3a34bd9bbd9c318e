import type { WireCallRecord } from '#lib/protocol/call-record';
import { toCardStatus } from '#lib/protocol/call-status';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Bad } from '../scenario.ts';
import type { Api } from './api.ts';
import type { ClientFacts } from './client-facts.ts';
import { endOf, hashOf, type Witness } from './witness.ts';

/** What was seen from outside. */
interface Seen {
  readonly api: Pick<Api, 'records'>;
  readonly witness: Witness;
  clients(): readonly ClientFacts[];
  /** By call, how often its effect was done. */
  effects(): ReadonlyMap<string, number>;
  /** By call, the card's status that a watcher was shown last. */
  readonly shown: ReadonlyMap<string, string>;
}

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

/** I1 to I7, I10 and I11 are held against what was seen, once all has come to rest. Gives all of it. */
export async function checkInvariants(
  seen: Seen,
  bad: Bad,
  { areAnswersNamed = true } = {},
): Promise<Facts> {
  const facts = await gatherFacts(seen);
  acceptedAreThere(facts, bad);
  acknowledgedStand(facts, bad);
  endsStand(facts, bad);
  allEnded(facts, bad);
  effectsFit(facts, bad);
  shownIsTrue(facts, bad);
  if (areAnswersNamed) answersAreTheirOwn(facts, bad);
  return facts;
}

/**
 * What was seen, and then the records that have to agree with it. An answer may still be
 * acknowledged while the records are read: of acknowledgements and of what watchers were shown,
 * those count that came before; of effects and identities, also those that came meanwhile.
 */
async function gatherFacts(seen: Seen): Promise<Facts> {
  const before = new Map(
    seen.clients().map(({ name, acknowledged }) => [name, [...acknowledged]] as const),
  );
  const shown = new Map(seen.shown);
  const records = await seen.api.records();
  const clients = seen
    .clients()
    .map((client) => ({ ...client, acknowledged: before.get(client.name) ?? [] }));
  return { records, witness: seen.witness, clients, effects: seen.effects(), shown };
}

/** The figures that each report has. */
export function figuresOf({ records, clients, effects }: Facts) {
  const all = [...records.values()];
  const ended = (status: string) => all.filter((one) => one.status === status).length;
  const of = (count: (client: ClientFacts) => number) =>
    clients.reduce((sum, client) => sum + count(client), 0);
  return {
    acknowledged: of(({ acknowledged }) => acknowledged.length),
    calls: all.length,
    succeeded: ended('SUCCEEDED'),
    failed: ended('FAILED'),
    timed_out: ended('TIMEOUT'),
    outcome_unknown: all.filter(({ error }) => error?.code === 'outcome_unknown').length,
    executed_unknown: all.filter(({ error }) => error?.executed === 'unknown').length,
    effects: effects.size,
    rejected: of(({ rejected }) => rejected),
    problems: of(({ problems }) => problems.length),
  };
}

/** Calls that had to succeed and did not; by default all that are on record. */
export function mustSucceed(
  bad: Bad,
  records: ReadonlyMap<string, WireCallRecord>,
  why: string,
  ids: Iterable<string> = records.keys(),
): void {
  for (const id of ids) {
    const { status, phase, error } = records.get(id) ?? {};
    if (status === 'SUCCEEDED') continue;
    const is = `${status ?? 'gone'} ${phase ?? ''} (${JSON.stringify(error ?? null)})`;
    bad('I6', `${id} is ${is}; ${why}, so it had to succeed`);
  }
}

function acceptedAreThere({ records, witness }: Facts, bad: Bad): void {
  const gone = [...witness.calls].filter(([id]) => !records.has(id));
  if (gone.length > 0) {
    const which = gone.slice(0, 5).map(([id, { key, tool }]) => `${id} (${tool}, ${key})`);
    const detail = `${gone.length} of ${witness.calls.size} accepted calls are gone: ${which.join(', ')}`;
    bad('I1', detail);
  }
  const byNonce = Map.groupBy(records.values(), ({ args }) => String(args.nonce ?? ''));
  for (const [nonce, calls] of byNonce) {
    if (nonce === '' || calls.length === 1) continue;
    const ids = calls.map(({ tool_call_id }) => tool_call_id).join(', ');
    bad('I5', `key ${nonce} made ${calls.length} calls: ${ids}`);
  }
  for (const [key, ids] of witness.keys) {
    if (ids.size > 1) bad('I1', `key ${key} gave ${ids.size} calls: ${[...ids].join(', ')}`);
  }
}

function acknowledgedStand({ records, clients }: Facts, bad: Bad): void {
  for (const { name, acknowledged } of clients) {
    for (const { id, disposition, hash } of acknowledged) {
      const record = records.get(id);
      const detail = `${id}: ${name} was told "${disposition}" for the answer ${hash}, and`;
      if (!record) bad('I2', `${detail} the call is gone`);
      else if (disposition === 'late') {
        if (record.late_result === null) bad('I2', `${detail} no late result is kept`);
      } else if (!isFinalStatus(record.status) || answerHash(record) !== hash) {
        const is = `${record.status} with ${answerHash(record)}`;
        bad('I2', `${detail} the call is ${is}`);
      }
    }
  }
}

/** The hash of the answer that the record came to, as the client would have sent it. */
const answerHash = ({ status, result, error }: WireCallRecord): string =>
  hashOf(status === 'SUCCEEDED' ? result : { error: error?.message });

function endsStand({ records, witness }: Facts, bad: Bad): void {
  for (const [id, ends] of witness.ends) {
    const record = records.get(id);
    const all = new Set([...ends, ...(record ? [endOf(record)] : [])]);
    if (all.size > 1) bad('I3', `${id} ended as ${[...all].join(' and then as ')}`);
  }
}

function allEnded({ records }: Facts, bad: Bad): void {
  for (const { tool_call_id: id, status, phase, created_at, card } of records.values()) {
    if (isFinalStatus(status)) continue;
    const clock = JSON.stringify(card.clock ?? null);
    const detail = `${id} is ${status}/${phase}, made ${new Date(created_at * 1000).toISOString()}, clock ${clock}`;
    bad('I4', detail);
  }
}

function effectsFit({ records, effects }: Facts, bad: Bad): void {
  for (const [id, count] of effects) {
    if (count > 1) bad('I5', `${id} was done ${count} times`);
    if (!records.has(id)) bad('I1', `${id} was done and is not on record`);
  }
  for (const { tool_call_id: id, tool_name, status, error } of records.values()) {
    if (!HAS_EFFECT.test(tool_name)) continue;
    const count = effects.get(id) ?? 0;
    if (status === 'SUCCEEDED' && count !== 1)
      bad('I6', `${id} succeeded and was done ${count} times`);
    if (error?.executed === 'no' && count > 0)
      bad('I7', `${id} ended ${error.code}, "not executed", and was done`);
  }
}

function shownIsTrue({ records, shown }: Facts, bad: Bad): void {
  for (const [id, status] of shown) {
    const record = records.get(id);
    const is = record && toCardStatus(record.status);
    if (!record) bad('I10', `${id} was shown to watchers and is gone`);
    else if ((status === 'SUCCESS' || status === 'ERROR') && status !== is)
      bad('I10', `${id} was shown as ${status} and is ${is}`);
  }
}

/** Each answer names the call, the client and the caller's number that it was made for. */
function answersAreTheirOwn({ records, clients, witness }: Facts, bad: Bad): void {
  const clientIds = new Map(clients.map(({ name, clientIds }) => [name, clientIds]));
  for (const { tool_call_id: id, status, source, result, client_id } of records.values()) {
    if (status !== 'SUCCEEDED' || source !== 'client') continue;
    const { call, by, nonce } = (result ?? {}) as { call?: string; by?: string; nonce?: string };
    const asked = witness.calls.get(id)?.nonce ?? nonce;
    const isTheClients = client_id !== null && clientIds.get(by ?? '')?.has(client_id);
    if (call !== id || nonce !== asked || !isTheClients) {
      const detail = `${id} (${asked}, for ${client_id}) has the answer of ${by} to ${call} (${nonce})`;
      bad('I11', detail);
    }
  }
}
