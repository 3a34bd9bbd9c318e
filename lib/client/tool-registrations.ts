import type { ClientMessage } from '../protocol/client-messages.ts';
import { type ClientToolDefinition, toToolSpec } from './client-tool.ts';

/** The tools that a client offers, and which of them the server has been told of. */
export interface ToolRegistrations {
  /** Adds, or replaces by name. */
  add(tool: ClientToolDefinition): void;
  remove(name: string): void;
  find(name: string): ClientToolDefinition | undefined;
  readonly names: readonly string[];
  /** What has to be said so that the server knows what we offer now; nothing when it does. */
  changes(): ClientMessage[];
  /** A new connection: the server knows of none. */
  forgetTold(): void;
}

/** Keeps the tools; sending is for others. */
export function createToolRegistrations(
  initial: readonly ClientToolDefinition[],
): ToolRegistrations {
  const tools = new Map(initial.map((tool) => [tool.name, tool]));
  /** Name to the text of what was said of it. */
  const told = new Map<string, string>();

  return {
    add: (tool) => void tools.set(tool.name, tool),
    remove: (name) => void tools.delete(name),
    find: (name) => tools.get(name),
    get names() {
      return [...tools.keys()];
    },
    changes() {
      const gone = [...told.keys()].filter((name) => !tools.has(name));
      const specs = [...tools.values()].map(toToolSpec);
      const fresh = specs.filter((spec) => told.get(spec.name) !== JSON.stringify(spec));
      for (const name of gone) told.delete(name);
      for (const spec of fresh) told.set(spec.name, JSON.stringify(spec));
      return [
        ...(gone.length === 0 ? [] : [{ type: 'unregister_tools' as const, names: gone }]),
        ...(fresh.length === 0 ? [] : [{ type: 'register_tools' as const, tools: fresh }]),
      ];
    },
    forgetTold: () => told.clear(),
  };
}
