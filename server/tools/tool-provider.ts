import { hash } from 'node:crypto';
import { canonicalJson } from '#lib/json/canonical-json';
import { POOL_SOURCE } from '#lib/protocol/tool-source';
import type { ToolAnnotations } from '#lib/protocol/tool-spec';
import type { ArgsCheck } from '#lib/schema/compile-tool-schema';
import type { WithholdArgs } from '#lib/schema/withhold-args';
import type { AnyServerTool, ToolAnswer, ToolContext } from './define-tool.ts';

/** Whose tools they are. The record of each call has it. */
export interface ToolOrigin {
  /** For people and programs: `server`, `client`, or the kind of provider, such as `mcp`. */
  readonly source: string;
  /** E.g. `mcp:files`. A call goes to tools of this name alone, after a restart as well. */
  readonly toolProvider: string;
  /** What its tools say and give is not marked as untrusted. Left out: only the server's own is trusted. */
  readonly trusted?: boolean;
}

export const OF_SERVER: ToolOrigin = { source: 'server', toolProvider: 'server' };
export const OF_CLIENTS: ToolOrigin = { source: 'client', toolProvider: 'clients' };
/** A call that asks each client of a pool: what it gives is what the clients say. */
export const OF_POOL: ToolOrigin = { source: POOL_SOURCE, toolProvider: 'pool', trusted: false };

/**
 * What the configuration of a provider says of a tool's calls. The policy can be stricter.
 * `isDefault`: it says nothing of this tool; then a person's own call is not asked about, and a rule
 * of the policy decides where there is one.
 */
export interface ConfiguredEffect {
  readonly effect: 'allow' | 'ask' | 'deny';
  readonly isDefault?: true;
}

/**
 * A tool that was checked: `toProvidedTool` makes one of a tool of ours, `validateToolSpec`
 * of what others wrote.
 */
export interface ProvidedTool extends ToolHashes {
  readonly name: string;
  readonly description: string;
  readonly displayName: string | undefined;
  /** JSON Schema of the arguments. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly annotations: ToolAnnotations;
  /** Milliseconds. */
  readonly timeoutMs: number;
  readonly check: (args: unknown) => ArgsCheck;
  /** A yes to one call is none to the next. */
  readonly neverAlways?: boolean | undefined;
  /** Takes out what the schema marks as sensitive; undefined where it marks nothing. */
  readonly withhold?: WithholdArgs | undefined;
  /** A person answers its calls: what that one is shown. Throws `ToolError`. */
  readonly question?: AnyServerTool['question'] | undefined;
  /** What the arguments refer to, which the yes of a person is for as well. `execute` refuses a call when it is otherwise than `context.operands`. */
  readonly operands?: AnyServerTool['operands'] | undefined;
  /** Where its call succeeds, it is the last of its turn. */
  readonly endsTurn?: boolean | undefined;
  /** What becomes of its calls, besides what the policy says. */
  readonly configured?: ConfiguredEffect | undefined;
  /** Why it cannot be called now: it is listed so, and its calls wait in the queue. */
  readonly unavailable?: string | undefined;
}

/**
 * Tools that run inside the server: its own, those of sub-agents, of an MCP server, of a further
 * kind. Recording, approval, clocks, cancelling and recovery are the engine's (rules PV in
 * SPEC.md); tools of clients are asked over their sockets, and are not behind this interface.
 */
export interface ToolProvider {
  readonly origin: ToolOrigin;
  /**
   * What it offers now; read at each list. The same array says that nothing has changed, and the
   * same object that the tool has not. Of two tools with one spelling the one of the earlier
   * provider is offered. Does not throw.
   */
  list(): readonly ProvidedTool[];
  /** Called after tools came, changed or went. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void;
  /**
   * Runs one call, of arguments that were checked and allowed. `ToolError` has the reason for the
   * model, anything else thrown is a defect that is logged. It ends soon after `context.signal`
   * aborts (cancel, timeout, stop of the server); what it returns later is dropped.
   */
  execute(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
  ): Promise<ToolAnswer>;
  /**
   * Of a call that ran when the server stopped: what takes its work up, where that goes on outside;
   * undefined where there is none. It is not run a second time.
   */
  resume?(callId: string): ((context: ToolContext) => Promise<ToolAnswer>) | undefined;
  /** What looks at arguments that are still being written, without effects; undefined where the tool has none. */
  partialOf?(name: string): AnyServerTool['onPartial'];
}

/** What two clients must agree on to be one pool, and what a person goes by who allows a call. */
export interface ToolHashes {
  /** Of the schema, whatever the order of its keys. */
  readonly schemaHash: string;
  /** Of all that is shown of the tool: name, title, description, schema, hints. */
  readonly toolHash: string;
}

export function hashesOf(tool: {
  readonly name: string;
  readonly displayName: string | undefined;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly annotations: ToolAnnotations;
}): ToolHashes {
  const { name, displayName = null, description, schema, annotations } = tool;
  const schemaHash = sha256(schema);
  return {
    schemaHash,
    toolHash: sha256([name, displayName, description, schemaHash, annotations]),
  };
}

const sha256 = (value: unknown): string => hash('sha256', canonicalJson(value), 'base64url');
