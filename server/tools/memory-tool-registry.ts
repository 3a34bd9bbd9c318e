import { LIMITS } from '#lib/protocol/limits';
import { parseToolReference, spellingOf, toModelName } from '#lib/protocol/tool-name';
import type { RejectedTool } from '#lib/protocol/tool-spec';
import type { AnyServerTool } from './define-tool.ts';
import { toPoolListing, toServerListing } from './list-tools.ts';
import { refusalOf } from './refusal-of.ts';
import { toServerEntry } from './to-server-entry.ts';
import { createToolPools, type ToolPools } from './tool-pools.ts';
import type { ClientStanding, Standing, ToolRegistry, Trip } from './tool-registry.ts';
import { validateToolSpec } from './validate-tool-spec.ts';

export interface ToolRegistryDeps {
  readonly serverTools: readonly AnyServerTool[];
  /** How an instance stands now; asked again after `standingChanged`. */
  readonly standing: (instanceId: string) => ClientStanding;
  /** Set while the instance is not offered calls of this tool. */
  readonly tripOf?: (instanceId: string, tool: string) => Trip | undefined;
}

/** The registry of one process, in memory: tools live as long as who serves them is connected. */
export function createToolRegistry(deps: ToolRegistryDeps): ToolRegistry {
  const { serverTools, tripOf = () => undefined } = deps;
  const standing: Standing = (instanceId, tool) => ({
    ...deps.standing(instanceId),
    trip: tripOf(instanceId, tool),
  });
  const own = new Map(serverTools.map((tool) => [tool.name, toServerEntry(tool)]));
  const reserved = new Set(serverTools.map(({ name }) => spellingOf(name)));
  const ownListings = [...own.values()].map(toServerListing);
  const pools = createToolPools(standing);
  const listeners = new Set<() => void>();
  let sortedNames: readonly string[] | undefined;

  const changed = () => {
    sortedNames = undefined;
    for (const listener of [...listeners]) listener();
  };
  const listings = (from: string | null) => {
    sortedNames ??= [...pools.names()].sort();
    const offered = sortedNames.flatMap((name) => {
      const [best, ...others] = pools.ranked(name, undefined, from);
      return best ? [toPoolListing(best, others, standing)] : [];
    });
    return [...ownListings, ...offered];
  };

  return {
    list: (principal, from = null) =>
      listings(from).map((listing) => {
        const reason = refusalOf(principal, listing.name);
        return reason === undefined ? listing : { ...listing, callable: false, reason };
      }),
    find(reference, from = null) {
      const { name, clientId } = parseToolReference(reference);
      const entry = own.get(name);
      if (entry) return clientId === undefined ? entry : undefined;
      // Each reading begins anew: only the first of thousands may be wanted.
      const candidates = {
        [Symbol.iterator]: () => pools.ranked(name, clientId, from)[Symbol.iterator](),
      };
      const [best] = candidates;
      return best && { source: 'client', name, best, candidates };
    },
    mayCall: (principal, name) => refusalOf(principal, name) === undefined,
    register(client, specs) {
      const rejected: RejectedTool[] = [];
      let refused = 0;
      for (const spec of specs) {
        const refusal = admit(pools, reserved, client, spec);
        if (!refusal) continue;
        refused += 1;
        if (rejected.length < LIMITS.rejectedPerMessage) rejected.push(refusal);
      }
      const registered = specs.length - refused;
      if (registered > 0) changed();
      return refused > rejected.length
        ? { registered, rejected, rejected_count: refused }
        : { registered, rejected };
    },
    unregister(instanceId, names) {
      const removed = names.filter((name) => pools.remove(instanceId, name));
      if (removed.length > 0) changed();
    },
    drop(instanceId) {
      const names = pools.namesOf(instanceId);
      for (const name of names) pools.remove(instanceId, name);
      if (names.length > 0) changed();
    },
    namesOf: (instanceId) => pools.namesOf(instanceId),
    standingChanged: pools.restand,
    onChange(listener) {
      // A wrapper of its own for each call, so that an undo takes away no other's.
      const call = () => listener();
      listeners.add(call);
      return () => {
        listeners.delete(call);
      };
    },
  };
}

/** Takes the tool in, or says why not. */
function admit(
  pools: ToolPools,
  reserved: ReadonlySet<string>,
  client: { clientId: string; instanceId: string },
  spec: unknown,
): RejectedTool | undefined {
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
}
