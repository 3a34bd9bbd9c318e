import { estimateJsonBytes } from '#lib/json/measure-json';
import type { ClientListing, WatchEvent, WatchEventBody } from '#lib/protocol/watch-messages';
import type { Clock } from '../base/clock.ts';
import type { EventBus } from '../events/room.ts';
import type { OfferChange, ToolRegistry } from '../tools/room.ts';
import { boundClients, boundTools, MOST_CLIENTS_OF_TOOL } from './fit-into-room.ts';
import { clientsEvent, toolsEvent } from './whole-lists.ts';

/** Two hundred tabs that connect at once shall not send two hundred events. */
const GATHER_MS = 50;
/** The texts of what changed have no more; above it the whole list is sent, which is bounded as well. */
const CHANGES_BYTES = 64 * 1024;

export interface PublishListingsDeps {
  readonly bus: Pick<EventBus, 'publish'>;
  readonly clock: Clock;
  readonly registry: Pick<ToolRegistry, 'list' | 'listing' | 'find' | 'onChange'>;
  readonly clients: {
    listings(clientId?: string): ClientListing[];
    /** The client of a connected instance. */
    get(instanceId: string): { readonly clientId: string } | undefined;
    onChange(listener: (instance: { readonly clientId: string }) => void): void;
  };
  /** Which clients are offered no calls for a while. */
  readonly breaker: { onChange(listener: (instanceId: string) => void): void };
}

/**
 * Publishes what changed of tools and clients, at most once in a while (rule
 * WA13). It costs as much as the clients that changed have tools, whatever else there is.
 */
export function publishListings(deps: PublishListingsDeps) {
  const { bus, clock, registry, clients, breaker } = deps;
  const changes = createToolChanges(registry);
  let changedClients = new Set<string>();
  let cancel: (() => void) | undefined;

  function clientChanged(clientId: string | undefined): void {
    if (clientId === undefined) return;
    changedClients.add(clientId);
    cancel ??= clock.schedule(GATHER_MS, publish);
  }

  function publish(): void {
    cancel = undefined;
    const ids = changedClients;
    changedClients = new Set();
    const rows = [...ids].flatMap((id) => clients.listings(id));
    const here = new Set(rows.map(({ client_id }) => client_id));
    const removed = [...ids].filter((id) => !here.has(id));
    if (ids.size > 0)
      bus.publish(clientsChanged(rows, removed) ?? clientsEvent(clients.listings()));
    // How a client stands decides who is asked first.
    for (const { tools } of rows) for (const name of tools) changes.look(name);
    const tools = changes.take();
    if (tools) bus.publish(tools === 'many' ? toolsEvent(registry) : tools);
  }

  const stopTools = registry.onChange(({ instanceId, names }: OfferChange) => {
    const clientId = instanceId === null ? undefined : clients.get(instanceId)?.clientId;
    for (const name of names) changes.look(name, clientId);
    clientChanged(clientId);
    cancel ??= clock.schedule(GATHER_MS, publish);
  });
  clients.onChange(({ clientId }) => clientChanged(clientId));
  breaker.onChange((instanceId) => clientChanged(clients.get(instanceId)?.clientId));
  return {
    /** Publishes what has changed, so that a list that is made now is one that changes lead on from. */
    publishNow(): void {
      if (!cancel) return;
      cancel();
      publish();
    },
    stop(): void {
      stopTools();
      cancel?.();
      cancel = undefined;
    },
  };
}

/** Undefined when they are many. */
function clientsChanged(
  rows: readonly ClientListing[],
  removed: string[],
): WatchEventBody | undefined {
  const { shown, bytes, leftOut } = boundClients(rows);
  if (leftOut > 0 || bytes + estimateJsonBytes(removed) > CHANGES_BYTES) return undefined;
  return { type: 'clients_changed', clients: shown.map(({ value }) => value), removed };
}

/** Watchers were sent this last of a tool. */
interface Seen {
  /** The hash of all that is described of it. */
  readonly head: string;
  readonly first: string | null;
  /** All that offer it are in its listing. */
  readonly isWhole: boolean;
}

type Registry = PublishListingsDeps['registry'];
type ToolsChanged = Omit<Extract<WatchEvent, { type: 'tools_changed' }>, 'seq'>;

/** Finds out what is new of tools since the last time, by their names. */
function createToolChanges(registry: Registry) {
  const seen = new Map<string, Seen>();
  /** Names to look at, with the clients that offer it otherwise than before. */
  let names = new Map<string, Set<string>>();

  function look(name: string, clientId?: string): void {
    const clients = names.get(name) ?? new Set();
    names.set(name, clientId === undefined ? clients : clients.add(clientId));
  }

  /** The clients that came; undefined where more than that is new. */
  function joinedSince(
    before: Seen | undefined,
    now: Seen,
    name: string,
    clients: ReadonlySet<string>,
  ): string[] | undefined {
    if (now.head !== before?.head) return undefined;
    const isKnown = clients.size === 0 || (now.isWhole && before.isWhole);
    return isKnown ? joinedOf(registry, name, clients) : undefined;
  }

  function addChange(event: ToolsChanged, name: string, clients: ReadonlySet<string>): void {
    const before = seen.get(name);
    const now = seenOf(registry, name);
    if (!now) {
      seen.delete(name);
      event.removed.push(name);
      return;
    }
    seen.set(name, now);
    const joined = joinedSince(before, now, name, clients);
    if (!joined || !before) {
      const listing = registry.listing(name, MOST_CLIENTS_OF_TOOL);
      if (listing) event.tools.push(listing);
      return;
    }
    if (joined.length > 0) event.joined[name] = joined;
    if (now.first !== null && now.first !== before.first) event.first[name] = now.first;
  }

  return {
    look,
    /** The event, `many` where the whole list is shorter, undefined where nothing is new. */
    take(): WatchEventBody | 'many' | undefined {
      const looked = names;
      names = new Map();
      const event: ToolsChanged = {
        type: 'tools_changed',
        tools: [],
        removed: [],
        joined: {},
        first: {},
      };
      for (const [name, clients] of looked) addChange(event, name, clients);
      return bounded(event);
    },
  };
}

function bounded(event: ToolsChanged): WatchEventBody | 'many' | undefined {
  const { tools, ...names } = event;
  const { removed, joined, first } = names;
  if (tools.length + removed.length + Object.keys({ ...joined, ...first }).length === 0) return;
  const { shown, bytes, leftOut } = boundTools(tools);
  if (leftOut > 0 || bytes + estimateJsonBytes(names) > CHANGES_BYTES) return 'many';
  return { ...event, tools: shown.map(({ value }) => value) };
}

function seenOf(registry: Registry, name: string): Seen | undefined {
  const target = registry.find(name);
  if (!target) return undefined;
  const { origin, toolHash, timeoutMs, unavailable = '', clientId: first } = target.best;
  const [more] = Iterator.from(target.candidates).drop(MOST_CLIENTS_OF_TOOL);
  return {
    head: `${origin.toolProvider} ${toolHash} ${timeoutMs} ${unavailable}`,
    first,
    isWhole: more === undefined,
  };
}

/** The clients that offer it with its schema; undefined when one has another. */
function joinedOf(
  registry: Registry,
  name: string,
  clients: ReadonlySet<string>,
): string[] | undefined {
  const pool = registry.find(name);
  const joined: string[] = [];
  for (const id of clients) {
    const own = registry.find(`${name}@${id}`);
    if (!pool || !own) continue;
    for (const { schemaHash } of own.candidates)
      if (schemaHash !== pool.best.schemaHash) return undefined;
    joined.push(id);
  }
  return joined;
}
