import { hash } from 'node:crypto';
import { canonicalJson } from '#lib/json/equal';
import { POOL_SOURCE } from '#lib/protocol/tool-source';
import type { RejectedTool, ToolAnnotations } from '#lib/protocol/tool-spec';
import type { ArgsCheck } from '#lib/schema/compile-tool-schema';
import type { WithholdArgs } from '#lib/schema/withhold-args';
import type { AnyServerTool, ToolAnswer, ToolContext } from './define-tool.ts';

/** Whose tools they are. The record of each call has it. */
export interface ToolOrigin {
  /** For people and programs: `server`, `client`, or the kind of provider, such as `mcp`. */
  readonly source: string;
  /** E.g. `mcp:files`. A call goes to tools of this name alone, after a restart as well. */
  readonly toolProvider: string;
  /** Nothing that its tools say and give is marked as untrusted. Left out: only the server's own is trusted. */
  readonly trusted?: boolean;
}

export const OF_SERVER: ToolOrigin = { source: 'server', toolProvider: 'server' };
export const OF_CLIENTS: ToolOrigin = { source: 'client', toolProvider: 'clients' };
/** A call that asks each client of a pool: what it gives is what the clients say. */
export const OF_POOL: ToolOrigin = { source: POOL_SOURCE, toolProvider: 'pool', trusted: false };

/**
 * The configuration of a provider says this of a tool's calls. The policy can be stricter.
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
  /** JSON pointers of what `check` leaves out; undefined where it leaves out nothing. */
  readonly unchecked: readonly string[] | undefined;
  /** A yes to one call is none to the next. */
  readonly neverAlways?: boolean | undefined;
  /** Takes out what the schema marks as sensitive; undefined where it marks nothing. */
  readonly withhold?: WithholdArgs | undefined;
  /** A person answers its calls: what that one is shown. Throws `ToolError`. */
  readonly question?: AnyServerTool['question'] | undefined;
  /** Gives what the arguments refer to, which the yes of a person is for as well. `execute` refuses a call when it is otherwise than `context.operands`. */
  readonly operands?: AnyServerTool['operands'] | undefined;
  /** Where its call succeeds, it is the last of its turn. */
  readonly endsTurn?: boolean | undefined;
  /** It decides on its calls, beside the policy. */
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
   * Gives what it offers now; read at each list. The same array says that nothing has changed, and the
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
   * Gives what takes up the work of a call that ran when the server stopped, where that goes on outside;
   * undefined where there is none. It is not run a second time.
   */
  resume?(callId: string): ((context: ToolContext) => Promise<ToolAnswer>) | undefined;
  /** Gives what looks at arguments that are still being written, without effects; undefined where the tool has none. */
  partialOf?(name: string): AnyServerTool['onPartial'];
}

/** Two clients must agree on them to be one pool, and a person who allows a call goes by them. */
export interface ToolHashes {
  /** It is of the schema, whatever the order of its keys. */
  readonly schemaHash: string;
  /** It is of all that is shown of the tool: name, title, description, schema, hints. */
  readonly toolHash: string;
}

export function hashesOf(
  tool: Pick<ProvidedTool, 'name' | 'displayName' | 'description' | 'schema' | 'annotations'>,
): ToolHashes {
  const { name, displayName = null, description, schema, annotations } = tool;
  const schemaHash = sha256(schema);
  return {
    schemaHash,
    toolHash: sha256([name, displayName, description, schemaHash, annotations]),
  };
}

const sha256 = (value: unknown): string => hash('sha256', canonicalJson(value), 'base64url');

type Described = 'name' | 'description' | 'schema';

/** A tool as one executor offers it: whatever is decided for that executor goes by this alone. */
export interface OfferedTool extends Omit<ProvidedTool, Described> {
  readonly origin: ToolOrigin;
  /** Null where it runs inside the server. */
  readonly clientId: string | null;
  /** It is one of that client. */
  readonly instanceId: string | null;
  /** It does nothing but make calls, each of which is decided on its own: no person is asked about its own. */
  readonly decidedBelow?: true;
}

/** One tool as one client offers it. */
export interface ClientTool extends OfferedTool, Pick<ProvidedTool, Described> {
  readonly clientId: string;
  readonly instanceId: string;
  /** The same for tools that are alike in name and all that is shown, to the letter. */
  readonly key: string;
  /** It counts all that, as JSON. */
  readonly bytes: number;
}

/** A tool as a client sent it, found right by itself: not yet a client's, and of no name that is taken. */
export type CheckedTool = Omit<ClientTool, 'clientId' | 'instanceId' | 'origin'>;

export type CheckedSpec =
  | { readonly ok: true; readonly tool: CheckedTool }
  | { readonly ok: false; readonly rejected: RejectedTool };

/** One tool that runs inside the server. */
export interface InsideTool extends OfferedTool, ProvidedTool {
  readonly clientId: null;
  readonly instanceId: null;
  readonly provider: ToolProvider;
}

export type AnyTool = InsideTool | ClientTool;

/**
 * `candidates` offer the name, in the order in which they are asked, `best` first; their schemas
 * may differ, their origin does not. To be read at once: the order is that of the moment.
 */
export interface ToolTarget {
  readonly best: AnyTool;
  readonly candidates: Iterable<AnyTool>;
  /** Gives those of the candidates with this schema. */
  withSchema(schemaHash: string): Iterable<AnyTool>;
}

/** It decides which client of a pool is asked; kept by the clients table, read by the registry. */
export interface ClientAvailability {
  readonly name: string;
  readonly visible: boolean;
  readonly responsive: boolean;
  /** Milliseconds since the epoch at which a person last touched it. */
  readonly lastTouchedAt: number;
}

/** An instance that is not offered calls of a tool until then. `until` is in milliseconds since the epoch. */
export interface OpenCircuit {
  readonly tool: string;
  readonly until: number;
  readonly failures: number;
}

/** The availability of an instance for calls of one tool; read again when that may have changed. */
export type AvailabilityOf = (
  instanceId: string,
  tool: string,
) => ClientAvailability & { readonly openCircuit: OpenCircuit | undefined };

/** The outcome of a registration. `rejected_count` is given when `rejected` lists only the first of them. */
export interface Registration {
  readonly registered: number;
  readonly rejected: RejectedTool[];
  readonly rejected_count?: number;
}

/** An instance of a client, or the server itself, offers other tools of these names now, or none. */
export interface OfferChange {
  /** Null: tools that run inside the server. */
  readonly instanceId: string | null;
  readonly names: readonly string[];
}
