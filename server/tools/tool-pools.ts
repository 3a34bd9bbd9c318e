import { toModelName } from '#lib/protocol/tool-name';
import type { ClientTool, Standing } from './tool-registry.ts';

/** Who serves which name: the tools of clients by name, by instance and by model spelling. */
export interface ToolPools {
  /** The other name that has this one's model spelling, if there is one. */
  nameInTheWay(name: string): string | undefined;
  put(tool: ClientTool): void;
  /** False when the instance does not serve the name. */
  remove(instanceId: string, name: string): boolean;
  serves(instanceId: string, name: string): boolean;
  namesOf(instanceId: string): string[];
  names(): IterableIterator<string>;
  /** Best first: those that answer and deliver, then visible, then most recently active. */
  ranked(name: string): readonly ClientTool[];
}

export function createToolPools(standing: Standing): ToolPools {
  const byName = new Map<string, Map<string, ClientTool>>();
  const byInstance = new Map<string, Set<string>>();
  const bySpelling = new Map<string, string>();

  return {
    nameInTheWay(name) {
      const holder = bySpelling.get(toModelName(name));
      return holder === name ? undefined : holder;
    },
    put(tool) {
      const pool = byName.get(tool.name) ?? new Map<string, ClientTool>();
      byName.set(tool.name, pool.set(tool.instanceId, tool));
      const names = byInstance.get(tool.instanceId) ?? new Set<string>();
      byInstance.set(tool.instanceId, names.add(tool.name));
      bySpelling.set(toModelName(tool.name), tool.name);
    },
    remove(instanceId, name) {
      const pool = byName.get(name);
      if (!pool?.delete(instanceId)) return false;
      if (pool.size === 0) {
        byName.delete(name);
        bySpelling.delete(toModelName(name));
      }
      const names = byInstance.get(instanceId);
      names?.delete(name);
      if (names?.size === 0) byInstance.delete(instanceId);
      return true;
    },
    serves: (instanceId, name) => byInstance.get(instanceId)?.has(name) ?? false,
    namesOf: (instanceId) => [...(byInstance.get(instanceId) ?? [])],
    names: () => byName.keys(),
    ranked(name) {
      const tools = [...(byName.get(name)?.values() ?? [])];
      if (tools.length < 2) return tools;
      return tools
        .map((tool) => ({ tool, rank: standing(tool.instanceId, name) }))
        .sort((a, b) => compareStanding(a.rank, b.rank))
        .map(({ tool }) => tool);
    },
  };
}

function compareStanding(a: ReturnType<Standing>, b: ReturnType<Standing>): number {
  const [canA, canB] = [a, b].map((one) => one.responsive && !one.trip);
  if (canA !== canB) return canA ? -1 : 1;
  if (a.visible !== b.visible) return a.visible ? -1 : 1;
  return b.lastActiveAt - a.lastActiveAt;
}
