import type { ClientMessage } from '../protocol/client-messages.ts';
import { type ClientToolDefinition, toToolSpec } from './client-tool.ts';

/** The tools that a client offers, and which of them were published to the server. */
export interface ToolRegistrations {
  /** Adds, or replaces by name. */
  add(tool: ClientToolDefinition): void;
  remove(name: string): void;
  find(name: string): ClientToolDefinition | undefined;
  readonly names: readonly string[];
  /** The messages that publish what has changed since they were last taken; empty when nothing has. */
  takeChanges(): ClientMessage[];
  /** The server has replied to one message that registers tools, whether it took them or not. */
  replied(): void;
  /** Whether it has replied to all of those that were taken (CL38). */
  readonly areReplied: boolean;
  /** A new connection: nothing is published on it yet. */
  forgetPublished(): void;
}

/** Keeps the tools; its caller sends. */
export function createToolRegistrations(
  initial: readonly ClientToolDefinition[],
): ToolRegistrations {
  const tools = new Map(initial.map((tool) => [tool.name, tool]));
  /** Name to the JSON text that was published. */
  const published = new Map<string, string>();
  let unreplied = 0;

  return {
    add: (tool) => void tools.set(tool.name, tool),
    remove: (name) => void tools.delete(name),
    find: (name) => tools.get(name),
    get names() {
      return [...tools.keys()];
    },
    takeChanges() {
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
    replied() {
      unreplied = Math.max(0, unreplied - 1);
    },
    get areReplied() {
      return unreplied === 0;
    },
    forgetPublished() {
      published.clear();
      unreplied = 0;
    },
  };
}
