import type { ClientMessage } from '../protocol/client-messages.ts';
import { type ClientToolDefinition, toToolSpec } from './client-tool.ts';

/** The tools that a client offers, and which of them were published to the server; its caller sends. */
export function createToolRegistrations(initial: readonly ClientToolDefinition[]) {
  const tools = new Map(initial.map((tool) => [tool.name, tool]));
  /** Name to the JSON text that was published. */
  const published = new Map<string, string>();
  let unreplied = 0;

  return {
    /** Adds, or replaces by name. */
    add: (tool: ClientToolDefinition) => void tools.set(tool.name, tool),
    remove: (name: string) => void tools.delete(name),
    find: (name: string) => tools.get(name),
    get names(): readonly string[] {
      return [...tools.keys()];
    },
    /** The messages that publish what has changed since they were last taken; empty when nothing has. */
    takeChanges(): ClientMessage[] {
      const deleted = [...published.keys()].filter((name) => !tools.has(name));
      const specs = [...tools.values()].map(toToolSpec);
      const fresh = specs.filter((spec) => published.get(spec.name) !== JSON.stringify(spec));
      for (const name of deleted) published.delete(name);
      for (const spec of fresh) published.set(spec.name, JSON.stringify(spec));
      if (fresh.length > 0) unreplied += 1;
      return [
        ...(deleted.length === 0 ? [] : [{ type: 'unregister_tools' as const, names: deleted }]),
        ...(fresh.length === 0 ? [] : [{ type: 'register_tools' as const, tools: fresh }]),
      ];
    },
    /** The server has replied to one message that registers tools, whether it took them or not. */
    replied() {
      unreplied = Math.max(0, unreplied - 1);
    },
    /** Whether it has replied to all of those that were taken (CL38). */
    get areReplied() {
      return unreplied === 0;
    },
    /** A new connection: nothing is published on it yet. */
    forgetPublished() {
      published.clear();
      unreplied = 0;
    },
  };
}

export type ToolRegistrations = ReturnType<typeof createToolRegistrations>;
