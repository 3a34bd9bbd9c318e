import { spellingOf } from '#lib/protocol/tool-name';
import { createToolPool, type ToolPool } from './tool-pool.ts';
import type { AvailabilityOf, ClientTool } from './tool-registry.ts';

/** Who serves which name: the tools of clients by name, by instance and by model spelling. */
export interface ToolPools {
  /** The other name that has this one's spelling to a model, in whatever case, if there is one. */
  nameInTheWay(name: string): string | undefined;
  put(tool: ClientTool): void;
  /** False when the instance does not serve the name. */
  remove(instanceId: string, name: string): boolean;
  serves(instanceId: string, name: string): boolean;
  namesOf(instanceId: string): string[];
  names(): IterableIterator<string>;
  /** How many instances offer the name. */
  sizeOf(name: string): number;
  /** The availability of the instance may have changed. */
  refresh(instanceId: string): void;
  /** Those who offer the name, or only the client `named`, or with this schema, in the order in which they are asked for `from`. */
  ranked(
    name: string,
    named: string | undefined,
    from: string | null,
    schemaHash?: string,
  ): Iterable<ClientTool>;
}

export function createToolPools(availability: AvailabilityOf): ToolPools {
  const byName = new Map<string, ToolPool>();
  const byInstance = new Map<string, Set<string>>();
  const bySpelling = new Map<string, string>();

  return {
    nameInTheWay(name) {
      const holder = bySpelling.get(spellingOf(name));
      return holder === name ? undefined : holder;
    },
    put(tool) {
      const pool = byName.get(tool.name) ?? createToolPool(tool.name, availability);
      byName.set(tool.name, pool);
      pool.put(tool);
      const names = byInstance.get(tool.instanceId) ?? new Set<string>();
      byInstance.set(tool.instanceId, names.add(tool.name));
      bySpelling.set(spellingOf(tool.name), tool.name);
    },
    remove(instanceId, name) {
      const pool = byName.get(name);
      if (!pool?.remove(instanceId)) return false;
      if (pool.size === 0) {
        byName.delete(name);
        bySpelling.delete(spellingOf(name));
      }
      const names = byInstance.get(instanceId);
      names?.delete(name);
      if (names?.size === 0) byInstance.delete(instanceId);
      return true;
    },
    serves: (instanceId, name) => byInstance.get(instanceId)?.has(name) ?? false,
    namesOf: (instanceId) => [...(byInstance.get(instanceId) ?? [])],
    names: () => byName.keys(),
    sizeOf: (name) => byName.get(name)?.size ?? 0,
    refresh(instanceId) {
      for (const name of byInstance.get(instanceId) ?? []) byName.get(name)?.refresh(instanceId);
    },
    ranked: (name, named, from, schemaHash) =>
      byName.get(name)?.inOrder(named, from, schemaHash) ?? [],
  };
}
