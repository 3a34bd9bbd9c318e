import type { RejectedTool, ToolAnnotations, ToolListing } from '#lib/protocol/tool-spec';
import type { ArgsCheck } from '#lib/schema/compile-tool-schema';
import type { Principal } from '../auth/principal.ts';
import type { AnyServerTool } from './define-tool.ts';

/** One tool as one client offers it. */
export interface ClientTool {
  readonly clientId: string;
  readonly instanceId: string;
  readonly name: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly displayName: string | undefined;
  readonly annotations: ToolAnnotations;
  readonly timeoutMs: number;
  readonly check: (args: unknown) => ArgsCheck;
}

export type ToolTarget =
  | {
      readonly source: 'server';
      readonly tool: AnyServerTool;
      readonly check: (args: unknown) => ArgsCheck;
    }
  /** `candidates` are the clients that serve it, best first; never empty. */
  | {
      readonly source: 'client';
      readonly name: string;
      readonly candidates: readonly ClientTool[];
    };

/** One of the server's own tools, with the JSON Schema that is told and the check that holds it. */
export interface ServerToolEntry {
  readonly tool: AnyServerTool;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly check: (args: unknown) => ArgsCheck;
}

/** What decides which client of a pool is asked; kept by the clients table, read by the registry. */
export interface ClientStanding {
  readonly name: string;
  readonly visible: boolean;
  readonly responsive: boolean;
  /** Milliseconds since the epoch of its last message. */
  readonly lastActiveAt: number;
}

/** An instance that is not offered calls of a tool until then. `until` is in milliseconds since the epoch. */
export interface Trip {
  readonly tool: string;
  readonly until: number;
  readonly failures: number;
}

/** How an instance stands for calls of one tool, asked at each look-up. */
export type Standing = (
  instanceId: string,
  tool: string,
) => ClientStanding & { readonly trip: Trip | undefined };

/**
 * The one registry of tools. Every list of tools in the system is a view of it,
 * so none can differ. It knows no sockets and runs nothing.
 */
export interface ToolRegistry {
  /** Every tool, with whether `principal` may call it now, and why not. */
  list(principal: Principal): ToolListing[];
  /** `name`, or `name@client`. Undefined when nobody serves it. */
  find(reference: string): ToolTarget | undefined;
  /** Whether `principal` may call it. */
  mayCall(principal: Principal, name: string): boolean;
  register(
    client: { clientId: string; instanceId: string },
    specs: readonly unknown[],
  ): { registered: number; rejected: RejectedTool[] };
  unregister(instanceId: string, names: readonly string[]): void;
  /** Takes all of an instance's tools out of every list. */
  drop(instanceId: string): void;
  /** Names this instance serves. */
  namesOf(instanceId: string): string[];
  /** Called after the set of tools, or who serves them, changed. Returns its own undo. */
  onChange(listener: () => void): () => void;
}
