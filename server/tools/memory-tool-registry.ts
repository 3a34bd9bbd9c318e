import { LIMITS } from '#lib/protocol/limits';
import { parseToolReference, spellingOf, toModelName } from '#lib/protocol/tool-name';
import type { RejectedTool, ToolListing } from '#lib/protocol/tool-spec';
import type { Principal } from '../auth/principal.ts';
import type { AnyServerTool } from './define-tool.ts';
import { toPoolListing, toServerListing } from './list-tools.ts';
import { refusalOf } from './refusal-of.ts';
import { toServerEntry } from './to-server-entry.ts';
import { tooLarge } from './too-large.ts';
import { createToolChecks } from './tool-checks.ts';
import { createToolPools, type ToolPools } from './tool-pools.ts';
import type {
  AvailabilityOf,
  CheckedSpec,
  ClientAvailability,
  OfferChange,
  OpenCircuit,
  Registration,
  ServerToolEntry,
  ToolRegistry,
  ToolTarget,
} from './tool-registry.ts';

/** Of the tools of all clients, as JSON, those that are alike counted once. */
const MOST_BYTES = 64 * 1024 * 1024;

export interface ToolRegistryDeps {
  readonly serverTools: readonly AnyServerTool[];
  /** The availability of an instance now; read again after `availabilityChanged`. */
  readonly availability: (instanceId: string) => ClientAvailability;
  /** Set while the instance is not offered calls of this tool. */
  readonly openCircuitOf?: (instanceId: string, tool: string) => OpenCircuit | undefined;
}

type OfferingInstance = Parameters<ToolRegistry['register']>[0];

/** The registry of one process, in memory: tools live as long as who serves them is connected. */
export const createToolRegistry = (deps: ToolRegistryDeps): ToolRegistry =>
  new RegisteredTools(deps);

class RegisteredTools implements ToolRegistry {
  readonly #own: ReadonlyMap<string, ServerToolEntry>;
  readonly #ownListings: readonly ToolListing[];
  /** Names as `spellingOf` has them. */
  readonly #reserved: ReadonlySet<string>;
  readonly #availability: AvailabilityOf;
  readonly #pools: ToolPools;
  readonly #listeners = new Set<{ call(change: OfferChange): void }>();
  #sortedNames: readonly string[] | undefined;
  // Functions of their own: the parts that ask and report are given these alone.
  readonly namesOf = (instanceId: string): string[] => this.#pools.namesOf(instanceId);
  readonly availabilityChanged = (instanceId: string): void => this.#pools.refresh(instanceId);
  readonly check = createToolChecks((key) => this.#pools.alike.find(key));

  constructor({ serverTools, availability, openCircuitOf }: ToolRegistryDeps) {
    this.#own = new Map(serverTools.map((tool) => [tool.name, toServerEntry(tool)]));
    this.#ownListings = [...this.#own.values()].map(toServerListing);
    this.#reserved = new Set(serverTools.map(({ name }) => spellingOf(name)));
    this.#availability = (instanceId, tool) => ({
      ...availability(instanceId),
      openCircuit: openCircuitOf?.(instanceId, tool),
    });
    this.#pools = createToolPools(this.#availability);
  }

  list(principal: Principal, from: string | null = null, mostClients = Number.POSITIVE_INFINITY) {
    this.#sortedNames ??= [...this.#pools.names()].sort();
    const pooled = this.#sortedNames.flatMap(
      (name) => this.#listing(name, from, mostClients) ?? [],
    );
    return [...this.#ownListings, ...pooled].map((one) => {
      const reason = refusalOf(principal, one.name);
      return reason === undefined ? one : { ...one, callable: false, reason };
    });
  }

  listing(name: string, mostClients: number): ToolListing | undefined {
    return this.#listing(name, null, mostClients);
  }

  find(reference: string, from: string | null = null): ToolTarget | undefined {
    const { name, clientId } = parseToolReference(reference);
    const entry = this.#own.get(name);
    if (entry) return clientId === undefined ? entry : undefined;
    // Each reading begins anew: only the first of thousands may be wanted.
    const withSchema = (schemaHash?: string) => ({
      [Symbol.iterator]: () =>
        this.#pools.ranked(name, clientId, from, schemaHash)[Symbol.iterator](),
    });
    const candidates = withSchema();
    const [best] = candidates;
    return best && { source: 'client', name, best, candidates, withSchema };
  }

  mayCall(principal: Principal, name: string): boolean {
    return refusalOf(principal, name) === undefined;
  }

  register(client: OfferingInstance, checked: readonly CheckedSpec[]): Registration {
    const rejected: RejectedTool[] = [];
    const names: string[] = [];
    for (const one of checked) {
      const outcome = admit(this.#pools, this.#reserved, client, one);
      if (typeof outcome === 'string') names.push(outcome);
      else if (rejected.length < LIMITS.rejectedPerMessage) rejected.push(outcome);
    }
    const registered = names.length;
    const rejected_count = checked.length - registered;
    if (registered > 0) this.#changed({ instanceId: client.instanceId, names });
    return rejected_count > rejected.length
      ? { registered, rejected, rejected_count }
      : { registered, rejected };
  }

  unregister(instanceId: string, names: readonly string[]): void {
    const removed = names.filter((name) => this.#pools.remove(instanceId, name));
    if (removed.length > 0) this.#changed({ instanceId, names: removed });
  }

  drop(instanceId: string): void {
    this.unregister(instanceId, this.namesOf(instanceId));
  }

  onChange(listener: (change: OfferChange) => void): () => void {
    // An object of its own for each call, so that unsubscribing removes no other's.
    const entry = { call: listener };
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  #changed(change: OfferChange): void {
    this.#sortedNames = undefined;
    for (const listener of [...this.#listeners]) listener.call(change);
  }

  #listing(name: string, from: string | null, most: number): ToolListing | undefined {
    const ranked = Iterator.from(this.#pools.ranked(name, undefined, from));
    return toPoolListing(ranked.take(most).toArray(), this.#pools.sizeOf(name), this.#availability);
  }
}

/** Registers the tool and returns its name, or returns why not. */
function admit(
  pools: ToolPools,
  reserved: ReadonlySet<string>,
  client: OfferingInstance,
  checked: CheckedSpec,
): string | RejectedTool {
  if (!checked.ok) return checked.rejected;
  const { name } = checked.tool;
  if (reserved.has(spellingOf(name))) {
    const message = `The name "${name}" is reserved for the server, also as models spell it and in any case; choose another one.`;
    return { name, code: 'name_reserved', message };
  }
  const holder = pools.nameInTheWay(name);
  if (holder !== undefined) {
    const message = `Models would take it for "${holder}", which is registered: they spell it "${toModelName(name)}", and names that differ only in case count as the same; choose another name.`;
    return { name, code: 'name_collides', message };
  }
  const { clientId, instanceId } = client;
  const replaced = pools.toolOf(instanceId, name);
  if (!replaced && pools.namesOf(instanceId).length >= LIMITS.toolsPerClient) {
    const message = `A client may offer at most ${LIMITS.toolsPerClient} tools; unregister one first.`;
    return { name, code: 'too_many_tools', message };
  }
  const { key, bytes, timeoutMs } = checked.tool;
  if (pools.bytesOf(instanceId) - (replaced?.bytes ?? 0) + bytes > LIMITS.toolBytesPerClient) {
    return tooLarge(name);
  }
  const alike = pools.alike.find(key);
  if (!alike && pools.alike.bytes + bytes > MOST_BYTES) {
    const message = `The tools of all clients together have ${MOST_BYTES} bytes of JSON already, the most that this server keeps; unregister some first.`;
    return { name, code: 'too_many_tools', message };
  }
  // In memory once for all that offer it.
  pools.put({ ...(alike ?? checked.tool), timeoutMs, clientId, instanceId });
  return name;
}
