import type { RejectedTool } from '#lib/protocol/tool-spec';
import type { ProvidedTool, ToolOrigin, ToolProvider } from './tool-provider.ts';

type Described = 'name' | 'description' | 'schema';

/** A tool as one executor offers it: whatever is decided for that executor goes by this alone. */
export interface OfferedTool extends Omit<ProvidedTool, Described> {
  readonly origin: ToolOrigin;
  /** Null where it runs inside the server. */
  readonly clientId: string | null;
  /** Of that client. */
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
  /** Those of the candidates with this schema. */
  withSchema(schemaHash: string): Iterable<AnyTool>;
}

/** What decides which client of a pool is asked; kept by the clients table, read by the registry. */
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

/** What became of a registration. `rejected_count` is given when `rejected` lists only the first of them. */
export interface Registration {
  readonly registered: number;
  readonly rejected: RejectedTool[];
  readonly rejected_count?: number;
}

/** Of these names, an instance of a client, or the server itself, offers others or none now. */
export interface OfferChange {
  /** Null: tools that run inside the server. */
  readonly instanceId: string | null;
  readonly names: readonly string[];
}
