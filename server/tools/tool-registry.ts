import { CLOCKS, LIMITS } from '#lib/protocol/limits';
import { ALL_CLIENTS, parseToolReference, toModelName } from '#lib/protocol/tool-name';
import { inListOrder } from '#lib/protocol/tool-source';
import type { RejectedTool, ToolListing } from '#lib/protocol/tool-spec';
import { redactShapes } from '#lib/text/redact';
import { createEmitter } from '#lib/util/emitter';
import { type Principal, refusalOf } from '../auth/room.ts';
import { toInsideListing, toPoolListing } from './list-tools.ts';
import { createToolChecks, tooLarge } from './tool-checks.ts';
import { ToolPool } from './tool-pool.ts';
import {
  type AvailabilityOf,
  type CheckedSpec,
  type ClientAvailability,
  type ClientTool,
  type InsideTool,
  OF_CLIENTS,
  type OfferChange,
  type OpenCircuit,
  type Registration,
  type ToolProvider,
  type ToolTarget,
} from './tool-provider.ts';
import { ToolTable } from './tool-table.ts';

/** Until the last client has taken its call, and its answer is written. */
const BESIDE_TOOL_MS = CLOCKS.queueMs + 5_000;

/**
 * `name@all`: the tool of the pool whose `best` would be asked first, run by asking each client of
 * it (TR60). It has the schema and the hints of that pool, and does nothing by itself.
 */
function toToolOfAll(best: ClientTool, provider: ToolProvider): InsideTool {
  const { clientId: _, instanceId: __, key: ___, bytes: ____, ...tool } = best;
  const timeoutMs = Math.min(tool.timeoutMs + BESIDE_TOOL_MS, LIMITS.maxTimeoutMs);
  const inside = { provider, origin: provider.origin, clientId: null, instanceId: null };
  return { ...tool, ...inside, timeoutMs, decidedBelow: true };
}

/** The tools of all clients may have so many bytes of JSON; those that are alike are counted once. */
const MOST_BYTES = 64 * 1024 * 1024;

export interface ToolRegistryDeps {
  /** They are there from the start; see `provide`. */
  readonly providers?: readonly ToolProvider[];
  /** The availability of an instance now; read again after `availabilityChanged`. */
  readonly availability: (instanceId: string) => ClientAvailability;
  /** Set while the instance is not offered calls of this tool. */
  readonly openCircuitOf?: (instanceId: string, tool: string) => OpenCircuit | undefined;
  /** Takes out of a client's tool what is secret, of all that people and models read; without it tokens. */
  readonly hide?: (text: string) => string;
}

/**
 * The one registry of tools, in memory: they live as long as who serves them is connected. Every list
 * of tools in the system is a view of it, so none can differ. It has no sockets and runs nothing.
 */
export class ToolRegistry {
  readonly #availability: AvailabilityOf;
  readonly #table: ToolTable;
  #askEach: ToolProvider | undefined;
  readonly #offers = createEmitter<OfferChange>();
  // The parts that ask and report are given these two functions alone.
  /** Names this instance serves. */
  readonly namesOf = (instanceId: string): string[] => [...this.#table.toolsOf(instanceId).keys()];
  /** The availability of an instance may have changed; to be called before the next look-up. */
  readonly availabilityChanged = (instanceId: string): void => this.#table.refresh(instanceId);
  /**
   * Checks the tools of one registration as they came, each by itself, in slices
   * between which others are served (TR18); registrations one after the other. Changes nothing.
   */
  readonly check: ReturnType<typeof createToolChecks>;

  constructor({ providers = [], availability, openCircuitOf, ...more }: ToolRegistryDeps) {
    const { hide = redactShapes } = more;
    this.#availability = (instanceId, tool) => ({
      ...availability(instanceId),
      openCircuit: openCircuitOf?.(instanceId, tool),
    });
    this.#table = new ToolTable(this.#availability);
    this.check = createToolChecks({ alike: (key) => this.#table.alike.find(key), hide });
    for (const provider of providers) this.provide(provider);
  }

  /** Offers the tools of a provider, beside those of earlier ones: of two of one name the first is offered. */
  provide(provider: ToolProvider): void {
    this.#table.provide(provider);
    provider.onChange(() => this.#insideChanged());
    this.#insideChanged();
  }

  /** The one that runs `name@all`; without it there is no such tool. */
  provideForAll(provider: ToolProvider): void {
    this.#askEach = provider;
  }

  /**
   * Every tool, with whether `principal` may call it now, and why not. `from` is
   * the client whose person asks, of which a pool is described first. Of the clients
   * of each tool the first `mostClients` are in it.
   */
  list(principal: Principal, from: string | null = null, mostClients = Number.POSITIVE_INFINITY) {
    this.#table.read();
    const listings = this.#table
      .all()
      .flatMap((one) => this.#toListing(one, from, mostClients) ?? []);
    return listings.sort(inListOrder).map((one) => {
      const reason = refusalOf(principal, one.name);
      return reason === undefined ? one : { ...one, callable: false, reason };
    });
  }

  /** One tool as the operator's list has it, with at most so many of its clients. */
  listing(name: string, mostClients: number): ToolListing | undefined {
    const found = this.#table.find(name);
    return found && this.#toListing(found, null, mostClients);
  }

  /** `name`, `name@client`, or `name@all` (TR60), in the order for `from`. Undefined when it is not served. */
  find(reference: string, from: string | null = null): ToolTarget | undefined {
    const { name, clientId } = parseToolReference(reference);
    const found = this.#table.find(name);
    if (!(found instanceof ToolPool))
      return clientId === undefined ? found && toTarget(found) : undefined;
    if (clientId === ALL_CLIENTS) return this.#ofAll(found, from);
    const best = found.best(clientId, from);
    if (!best) return undefined;
    // Each reading begins anew: only the first of thousands may be wanted.
    const withSchema = (schemaHash?: string) => ({
      [Symbol.iterator]: () => found.inOrder(clientId, from, schemaHash)[Symbol.iterator](),
    });
    return { best, candidates: withSchema(), withSchema };
  }

  #ofAll(pool: ToolPool, from: string | null): ToolTarget | undefined {
    const provider = this.#askEach;
    if (!provider) return undefined;
    const ofPool = (schemaHash?: string) => {
      const [best] = pool.inOrder(undefined, from, schemaHash);
      return best ? [toToolOfAll(best, provider)] : [];
    };
    const [best] = ofPool();
    return best && { best, candidates: [best], withSchema: ofPool };
  }

  /**
   * The reference with the name of the one tool that is meant: that name, or one that differs from
   * it by case, or by `.` and `_`, alone. As it was given where there is none.
   */
  nameOf(reference: string): string {
    const { name } = parseToolReference(reference);
    const meant = this.#table.named(name)?.name ?? name;
    return `${meant}${reference.slice(name.length)}`;
  }

  /** True where `principal` may call it. */
  mayCall(principal: Principal, name: string): boolean {
    return refusalOf(principal, name) === undefined;
  }

  /** All at once: what the client offers never has a part of a registration. */
  register(client: OfferingInstance, checked: readonly CheckedSpec[]): Registration {
    const rejected: RejectedTool[] = [];
    const names: string[] = [];
    for (const one of checked) {
      const outcome = admit(this.#table, client, one);
      if (typeof outcome === 'string') names.push(outcome);
      else if (rejected.length < LIMITS.rejectedPerMessage) rejected.push(outcome);
    }
    const registered = names.length;
    const rejected_count = checked.length - registered;
    if (registered > 0) this.#offers.emit({ instanceId: client.instanceId, names });
    return rejected_count > rejected.length
      ? { registered, rejected, rejected_count }
      : { registered, rejected };
  }

  unregister(instanceId: string, names: readonly string[]): void {
    const removed = names.filter((name) => this.#table.remove(instanceId, name));
    if (removed.length > 0) this.#offers.emit({ instanceId, names: removed });
  }

  /** Takes all of an instance's tools out of every list. */
  drop(instanceId: string): void {
    this.unregister(instanceId, this.namesOf(instanceId));
  }

  /** Called after an instance offers other tools than before. Returns a function that unsubscribes. */
  onChange(listener: (change: OfferChange) => void): () => void {
    return this.#offers.subscribe(listener);
  }

  /** Listeners are called for what has changed since they were called last, also where a list was asked for meanwhile. */
  #insideChanged(): void {
    this.#table.read();
    const names = this.#table.takeChanged();
    if (names.length > 0) this.#offers.emit({ instanceId: null, names });
  }

  #toListing(
    found: InsideTool | ToolPool,
    from: string | null,
    most: number,
  ): ToolListing | undefined {
    if (!(found instanceof ToolPool)) return toInsideListing(found);
    const shown = Iterator.from(found.inOrder(undefined, from)).take(most).toArray();
    return toPoolListing(shown, found.size, this.#availability);
  }
}

interface OfferingInstance {
  readonly clientId: string;
  readonly instanceId: string;
}

/** Clients do this to the registry. */
export type ToolOffers = Pick<ToolRegistry, 'check' | 'register' | 'unregister' | 'drop'>;

const toTarget = (tool: InsideTool): ToolTarget => ({
  best: tool,
  candidates: [tool],
  withSchema: (schemaHash) => (tool.schemaHash === schemaHash ? [tool] : []),
});

/** Registers the tool and returns its name, or returns why not. */
function admit(
  table: ToolTable,
  client: OfferingInstance,
  checked: CheckedSpec,
): string | RejectedTool {
  if (!checked.ok) return checked.rejected;
  const { name } = checked.tool;
  const holder = table.named(name);
  if (holder && !(holder instanceof ToolPool)) {
    const message = `The name "${name}" is reserved for the server, also as models spell it and in any case; choose another one.`;
    return { name, code: 'name_reserved', message };
  }
  if (holder && holder.name !== name) {
    const message = `Models would take it for "${holder.name}", which is registered: they spell it "${toModelName(name)}", and names that differ only in case count as the same; choose another name.`;
    return { name, code: 'name_collides', message };
  }
  const { clientId, instanceId } = client;
  const own = table.toolsOf(instanceId);
  const replaced = own.get(name);
  if (!replaced && own.size >= LIMITS.toolsPerClient) {
    const message = `A client may offer at most ${LIMITS.toolsPerClient} tools; unregister one first.`;
    return { name, code: 'too_many_tools', message };
  }
  const { key, bytes, timeoutMs } = checked.tool;
  const ownBytes = own.values().reduce((sum, one) => sum + one.bytes, 0);
  if (ownBytes - (replaced?.bytes ?? 0) + bytes > LIMITS.toolBytesPerClient) return tooLarge(name);
  const alike = table.alike.find(key);
  if (!alike && table.alike.bytes + bytes > MOST_BYTES) {
    const message = `The tools of all clients together have ${MOST_BYTES} bytes of JSON already, the most that this server keeps; unregister some first.`;
    return { name, code: 'too_many_tools', message };
  }
  // In memory once for all that offer it.
  table.put({ ...(alike ?? checked.tool), origin: OF_CLIENTS, timeoutMs, clientId, instanceId });
  return name;
}
