import { hash } from 'node:crypto';
import { toModelName } from '#lib/protocol/tool-name';
import { isOfClient } from '#lib/protocol/tool-source';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { given } from '#lib/util/given';
import type { ToolRegistry } from '../../tools/tool-registry.ts';
import { nameClients } from './client-handles.ts';

/** Of one name, and of all together; further ones are reached by programs alone, as `name@client`. */
const MOST_OF_NAME = 8;
const MOST_VARIANTS = 32;
const LONGEST_NAME = 64;

/**
 * Tools of clients that offer a name with another schema than the pool has, each as a tool of its
 * own (AL165): `name@client`, spelled with the client's handle.
 */
export function listVariants(
  listings: readonly ToolListing[],
  registry: Pick<ToolRegistry, 'find'>,
): ToolListing[] {
  return listings.flatMap((one) => variantsOf(one, registry)).slice(0, MOST_VARIANTS);
}

function variantsOf(pool: ToolListing, registry: Pick<ToolRegistry, 'find'>): ToolListing[] {
  const { others = [] } = pool;
  if (!isOfClient(pool) || others.length === 0) return [];
  const clients = others.slice(0, MOST_OF_NAME);
  return nameClients(clients).flatMap(({ handle, clientId }) => {
    const name = `${pool.name}@${clientId}`;
    const tool = registry.find(name)?.best;
    const client = clients.find(({ client_id }) => client_id === clientId);
    if (!tool || tool.clientId === null || !client) return [];
    const { description, schema, timeoutMs: timeout_ms, annotations, displayName } = tool;
    return {
      ...{ name, model_name: spelled(pool.name, handle), source: pool.source },
      ...{ schema, timeout_ms, annotations },
      description: `${description}\n(On ${handle} alone: it takes other arguments there than at the other clients.)`,
      ...given({ display_name: displayName, reason: pool.reason }),
      clients: [{ ...client, visible: true }],
      callable: pool.callable,
    };
  });
}

/** `[A-Za-z0-9_-]{1,64}`, with the handle whole; what it loses of other scripts a hash stands for. */
function spelled(name: string, handle: string): string {
  const ascii = handle.replaceAll(/[^a-z0-9-]+/g, '');
  const end = ascii === handle ? handle : `${ascii}${hash('sha256', handle).slice(0, 6)}`;
  return `${toModelName(name).slice(0, LONGEST_NAME - end.length - 2)}__${end}`;
}
