import type { RejectedTool, ToolListing } from '#lib/protocol/tool-spec';
import type { Principal } from '../auth/room.ts';
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

/**
 * The one registry of tools. Every list of tools in the system is a view of it,
 * so none can differ. It has no sockets and runs nothing.
 */
export interface ToolRegistry {
  /**
   * Every tool, with whether `principal` may call it now, and why not. `from` is
   * the client whose person asks, of which a pool is described first. Of the clients
   * of each tool the first `mostClients` are in it.
   */
  list(principal: Principal, from?: string | null, mostClients?: number): ToolListing[];
  /** One tool as the operator's list has it, with at most so many of its clients. */
  listing(name: string, mostClients: number): ToolListing | undefined;
  /** `name`, `name@client`, or `name@all` (TR60), in the order for `from`. Undefined when it is not served. */
  find(reference: string, from?: string | null): ToolTarget | undefined;
  /**
   * The reference with the name of the one tool that is meant: that name, or one that differs from
   * it by case, or by `.` and `_`, alone. As it was given where there is none.
   */
  nameOf(reference: string): string;
  /** Whether `principal` may call it. */
  mayCall(principal: Principal, name: string): boolean;
  /**
   * Checks the tools of one registration as they came, each by itself, in slices
   * between which others are served (TR18); registrations one after the other. Changes nothing.
   */
  check(specs: readonly unknown[]): Promise<readonly CheckedSpec[]>;
  /** All at once: what the client offers never has a part of a registration. */
  register(
    client: { clientId: string; instanceId: string },
    checked: readonly CheckedSpec[],
  ): Registration;
  unregister(instanceId: string, names: readonly string[]): void;
  /** Takes all of an instance's tools out of every list. */
  drop(instanceId: string): void;
  /** Names this instance serves. */
  namesOf(instanceId: string): string[];
  /** The availability of an instance may have changed; to be called before the next look-up. */
  availabilityChanged(instanceId: string): void;
  /** Called after an instance offers other tools than before. Returns a function that unsubscribes. */
  onChange(listener: (change: OfferChange) => void): () => void;
}

/** What clients do to the registry. */
export type ToolOffers = Pick<ToolRegistry, 'check' | 'register' | 'unregister' | 'drop'>;
