import type { Api } from './api.ts';
import type { Facts } from './check-invariants.ts';
import type { ClientFacts } from './client-facts.ts';
import type { Witness } from './witness.ts';

/**
 * What was seen, and then the records that have to agree with it. An answer may still be
 * acknowledged while the records are read: of acknowledgements and of what watchers were shown,
 * those count that came before; of effects and identities, also those that came meanwhile.
 */
export async function gatherFacts(seen: {
  readonly api: Pick<Api, 'records'>;
  readonly witness: Witness;
  clients(): readonly ClientFacts[];
  effects(): ReadonlyMap<string, number>;
  readonly shown: ReadonlyMap<string, string>;
}): Promise<Facts> {
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
