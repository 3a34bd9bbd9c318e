import { spellingOf } from '#lib/protocol/tool-name';
import { ToolPool } from './tool-pool.ts';
import type { AvailabilityOf, CheckedTool, ClientTool } from './tool-registry.ts';

/** Who serves which name: the tools of clients by name, by instance and by model spelling. */
export interface ToolPools {
  /** The other name that has this one's spelling to a model, in whatever case, if there is one. */
  nameInTheWay(name: string): string | undefined;
  put(tool: ClientTool): void;
  /** False when the instance does not serve the name. */
  remove(instanceId: string, name: string): boolean;
  /** What the instance offers by that name. */
  toolOf(instanceId: string, name: string): ClientTool | undefined;
  /** Of all tools that the instance offers. */
  bytesOf(instanceId: string): number;
  readonly alike: Pick<AlikeTools, 'find' | 'bytes'>;
  namesOf(instanceId: string): string[];
  names(): IterableIterator<string>;
  /** How many instances offer the name. */
  sizeOf(name: string): number;
  /** The availability of the instance may have changed. */
  refresh(instanceId: string): void;
  /** The one of them that is asked first. */
  best(name: string, named: string | undefined, from: string | null): ClientTool | undefined;
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
  const byInstance = new Map<string, Map<string, ClientTool>>();
  const alike = createAlikeTools();
  const bySpelling = new Map<string, string>();

  return {
    nameInTheWay(name) {
      const holder = bySpelling.get(spellingOf(name));
      return holder === name ? undefined : holder;
    },
    put(tool) {
      const pool = byName.get(tool.name) ?? new ToolPool(tool.name, availability);
      byName.set(tool.name, pool);
      pool.put(tool);
      const own = byInstance.get(tool.instanceId) ?? new Map<string, ClientTool>();
      const replaced = own.get(tool.name);
      byInstance.set(tool.instanceId, own.set(tool.name, tool));
      alike.hold(tool);
      if (replaced) alike.release(replaced.key);
      bySpelling.set(spellingOf(tool.name), tool.name);
    },
    remove(instanceId, name) {
      const pool = byName.get(name);
      if (!pool?.remove(instanceId)) return false;
      if (pool.size === 0) {
        byName.delete(name);
        bySpelling.delete(spellingOf(name));
      }
      const own = byInstance.get(instanceId);
      const removed = own?.get(name);
      if (removed) alike.release(removed.key);
      own?.delete(name);
      if (own?.size === 0) byInstance.delete(instanceId);
      return true;
    },
    toolOf: (instanceId, name) => byInstance.get(instanceId)?.get(name),
    bytesOf: (instanceId) =>
      Iterator.from(byInstance.get(instanceId)?.values() ?? []).reduce(
        (sum, { bytes }) => sum + bytes,
        0,
      ),
    alike,
    namesOf: (instanceId) => [...(byInstance.get(instanceId)?.keys() ?? [])],
    names: () => byName.keys(),
    sizeOf: (name) => byName.get(name)?.size ?? 0,
    refresh(instanceId) {
      for (const name of byInstance.get(instanceId)?.keys() ?? [])
        byName.get(name)?.refresh(instanceId);
    },
    best: (name, named, from) => byName.get(name)?.best(named, from),
    ranked: (name, named, from, schemaHash) =>
      byName.get(name)?.inOrder(named, from, schemaHash) ?? [],
  };
}

/** The tools that are offered, those that are alike in all that is shown of them as one (TR19). */
interface AlikeTools {
  find(key: string): CheckedTool | undefined;
  /** Of all of them. */
  readonly bytes: number;
  /** One more client offers it. */
  hold(tool: CheckedTool): void;
  /** One client fewer does. */
  release(key: string): void;
}

function createAlikeTools(): AlikeTools {
  const byKey = new Map<string, { readonly tool: CheckedTool; holders: number }>();
  let bytes = 0;
  return {
    find: (key) => byKey.get(key)?.tool,
    get bytes() {
      return bytes;
    },
    hold(tool) {
      const known = byKey.get(tool.key);
      if (known) known.holders += 1;
      else {
        byKey.set(tool.key, { tool, holders: 1 });
        bytes += tool.bytes;
      }
    },
    release(key) {
      const known = byKey.get(key);
      if (!known) return;
      known.holders -= 1;
      if (known.holders > 0) return;
      byKey.delete(key);
      bytes -= known.tool.bytes;
    },
  };
}
