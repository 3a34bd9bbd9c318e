import { LIMITS } from '#lib/protocol/limits';
import { parseToolReference, spellingOf, toModelName } from '#lib/protocol/tool-name';
import type { RejectedTool } from '#lib/protocol/tool-spec';
import type { AnyServerTool } from './define-tool.ts';
import { toPoolListing, toServerListing } from './list-tools.ts';
import { refusalOf } from './refusal-of.ts';
import { toServerEntry } from './to-server-entry.ts';
import { createToolPools, type ToolPools } from './tool-pools.ts';
import type {
  AvailabilityOf,
  ClientAvailability,
  OfferChange,
  OpenCircuit,
  ToolRegistry,
} from './tool-registry.ts';
import { validateToolSpec } from './validate-tool-spec.ts';

export interface ToolRegistryDeps {
  readonly serverTools: readonly AnyServerTool[];
  /** The availability of an instance now; read again after `availabilityChanged`. */
  readonly availability: (instanceId: string) => ClientAvailability;
  /** Set while the instance is not offered calls of this tool. */
  readonly openCircuitOf?: (instanceId: string, tool: string) => OpenCircuit | undefined;
}

/** The registry of one process, in memory: tools live as long as who serves them is connected. */
export function createToolRegistry(deps: ToolRegistryDeps): ToolRegistry {
  const { serverTools, openCircuitOf = () => undefined } = deps;
  const availability: AvailabilityOf = (instanceId, tool) => ({
    ...deps.availability(instanceId),
    openCircuit: openCircuitOf(instanceId, tool),
  });
  const own = new Map(serverTools.map((tool) => [tool.name, toServerEntry(tool)]));
  const reserved = new Set(serverTools.map(({ name }) => spellingOf(name)));
  const ownListings = [...own.values()].map(toServerListing);
  const pools = createToolPools(availability);
  const listeners = new Set<(change: OfferChange) => void>();
  let sortedNames: readonly string[] | undefined;

  const changed = (change: OfferChange) => {
    sortedNames = undefined;
    for (const listener of [...listeners]) listener(change);
  };
  const listing = (name: string, from: string | null, most: number) => {
    const shown = Iterator.from(pools.ranked(name, undefined, from))
      .take(most)
      .toArray();
    return toPoolListing(shown, pools.sizeOf(name), availability);
  };
  const listings = (from: string | null, most: number) => {
    sortedNames ??= [...pools.names()].sort();
    return [...ownListings, ...sortedNames.flatMap((name) => listing(name, from, most) ?? [])];
  };

  return {
    list: (principal, from = null, mostClients = Number.POSITIVE_INFINITY) =>
      listings(from, mostClients).map((one) => {
        const reason = refusalOf(principal, one.name);
        return reason === undefined ? one : { ...one, callable: false, reason };
      }),
    listing: (name, mostClients) => listing(name, null, mostClients),
    find(reference, from = null) {
      const { name, clientId } = parseToolReference(reference);
      const entry = own.get(name);
      if (entry) return clientId === undefined ? entry : undefined;
      // Each reading begins anew: only the first of thousands may be wanted.
      const withSchema = (schemaHash?: string) => ({
        [Symbol.iterator]: () => pools.ranked(name, clientId, from, schemaHash)[Symbol.iterator](),
      });
      const candidates = withSchema();
      const [best] = candidates;
      return best && { source: 'client', name, best, candidates, withSchema };
    },
    mayCall: (principal, name) => refusalOf(principal, name) === undefined,
    register(client, specs) {
      const rejected: RejectedTool[] = [];
      const names: string[] = [];
      for (const spec of specs) {
        const outcome = admit(pools, reserved, client, spec);
        if (typeof outcome === 'string') names.push(outcome);
        else if (rejected.length < LIMITS.rejectedPerMessage) rejected.push(outcome);
      }
      const registered = names.length;
      const refused = specs.length - registered;
      if (registered > 0) changed({ instanceId: client.instanceId, names });
      return refused > rejected.length
        ? { registered, rejected, rejected_count: refused }
        : { registered, rejected };
    },
    unregister(instanceId, names) {
      const removed = names.filter((name) => pools.remove(instanceId, name));
      if (removed.length > 0) changed({ instanceId, names: removed });
    },
    drop(instanceId) {
      const names = pools.namesOf(instanceId);
      for (const name of names) pools.remove(instanceId, name);
      if (names.length > 0) changed({ instanceId, names });
    },
    namesOf: (instanceId) => pools.namesOf(instanceId),
    availabilityChanged: pools.refresh,
    onChange(listener) {
      // A wrapper of its own for each call, so that unsubscribing removes no other's.
      const call = (change: OfferChange) => listener(change);
      listeners.add(call);
      return () => {
        listeners.delete(call);
      };
    },
  };
}

/** Registers the tool and returns its name, or returns why not. */
function admit(
  pools: ToolPools,
  reserved: ReadonlySet<string>,
  client: { clientId: string; instanceId: string },
  spec: unknown,
): string | RejectedTool {
  const validated = validateToolSpec(client, spec);
  if (!validated.ok) return validated.rejected;
  const { name } = validated.tool;
  if (reserved.has(spellingOf(name))) {
    const message = `The name "${name}" is reserved for the server, also as models spell it and in any case; choose another one.`;
    return { name, code: 'name_reserved', message };
  }
  const holder = pools.nameInTheWay(name);
  if (holder !== undefined) {
    const message = `Models would take it for "${holder}", which is registered: they spell it "${toModelName(name)}", and names that differ only in case count as the same; choose another name.`;
    return { name, code: 'name_collides', message };
  }
  const isNew = !pools.serves(client.instanceId, name);
  if (isNew && pools.namesOf(client.instanceId).length >= LIMITS.toolsPerClient) {
    const message = `A client may offer at most ${LIMITS.toolsPerClient} tools; unregister one first.`;
    return { name, code: 'too_many_tools', message };
  }
  pools.put(validated.tool);
  return name;
}
