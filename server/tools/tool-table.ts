import { spellingOf } from '#lib/protocol/tool-name';
import { ToolPool } from './tool-pool.ts';
import type {
  AvailabilityOf,
  CheckedTool,
  ClientTool,
  InsideTool,
  ProvidedTool,
  ToolProvider,
} from './tool-provider.ts';

/**
 * All tools by their names, as people and models take them for one: under each spelling at most one
 * tool that runs inside the server, else at most one name with the clients that offer it.
 */
export class ToolTable {
  readonly alike = new AlikeTools();
  readonly #availability: AvailabilityOf;
  /** Each provider's tools, as they were listed last: a call is checked by what its caller was shown. */
  readonly #listed = new Map<ToolProvider, readonly ProvidedTool[]>();
  readonly #made = new WeakMap<ProvidedTool, InsideTool>();
  #inside: ReadonlyMap<string, InsideTool> = new Map();
  readonly #pools = new Map<string, ToolPool>();
  readonly #byInstance = new Map<string, Map<string, ClientTool>>();
  /** Names under which providers offer, or hide, something else than when they were taken last. */
  #changed = new Set<string>();

  constructor(availability: AvailabilityOf) {
    this.#availability = availability;
  }

  /** After those that are there already: of two of one name the first is offered. */
  provide(provider: ToolProvider): void {
    this.#listed.set(provider, []);
    this.read();
  }

  /** Asks the providers for what they offer now. */
  read(): void {
    let isNew = false;
    for (const [provider, before] of this.#listed) {
      const now = provider.list();
      isNew ||= now !== before;
      this.#listed.set(provider, now);
    }
    if (isNew) this.#placeInside();
  }

  #placeInside(): void {
    const before = this.#inside;
    const now = new Map<string, InsideTool>();
    for (const [provider, tools] of this.#listed) {
      for (const tool of tools) {
        const spelling = spellingOf(tool.name);
        if (!now.has(spelling))
          now.set(spelling, this.#made.get(tool) ?? this.#make(tool, provider));
      }
    }
    this.#inside = now;
    for (const spelling of new Set([...before.keys(), ...now.keys()])) {
      const [was, is] = [before.get(spelling), now.get(spelling)];
      if (was === is) continue;
      // A name of clients that it had, or has, the place of is there again, or no more.
      for (const one of [was, is, this.#pools.get(spelling)]) if (one) this.#changed.add(one.name);
    }
  }

  #make(tool: ProvidedTool, provider: ToolProvider): InsideTool {
    const { origin } = provider;
    const made = { ...tool, provider, origin, clientId: null, instanceId: null };
    this.#made.set(tool, made);
    return made;
  }

  /** The names of which providers offer something else than when this was asked last. */
  takeChanged(): string[] {
    const names = [...this.#changed];
    this.#changed = new Set();
    return names;
  }

  /** The tool, or the pool, for which models could take the name. */
  named(name: string): InsideTool | ToolPool | undefined {
    const spelling = spellingOf(name);
    return this.#inside.get(spelling) ?? this.#pools.get(spelling);
  }

  /** The one of that very name. */
  find(name: string): InsideTool | ToolPool | undefined {
    const found = this.named(name);
    return found?.name === name ? found : undefined;
  }

  /** Those of providers in their order; then those of clients, but for names that a provider has. */
  all(): (InsideTool | ToolPool)[] {
    const pools = [...this.#pools].flatMap(([spelling, pool]) =>
      this.#inside.has(spelling) ? [] : pool,
    );
    return [...this.#inside.values(), ...pools];
  }

  /** Gives what the instance offers, by name. */
  toolsOf(instanceId: string): ReadonlyMap<string, ClientTool> {
    return this.#byInstance.get(instanceId) ?? new Map();
  }

  /** No other name has its spelling. */
  put(tool: ClientTool): void {
    const { name, instanceId } = tool;
    const spelling = spellingOf(name);
    const pool = this.#pools.get(spelling) ?? new ToolPool(name, this.#availability);
    this.#pools.set(spelling, pool);
    pool.put(tool);
    const own = this.#byInstance.get(instanceId) ?? new Map<string, ClientTool>();
    const replaced = own.get(name);
    this.#byInstance.set(instanceId, own.set(name, tool));
    this.alike.hold(tool);
    if (replaced) this.alike.release(replaced.key);
  }

  /** False when the instance does not serve the name. */
  remove(instanceId: string, name: string): boolean {
    const own = this.#byInstance.get(instanceId);
    const removed = own?.get(name);
    if (!own || !removed) return false;
    own.delete(name);
    if (own.size === 0) this.#byInstance.delete(instanceId);
    this.alike.release(removed.key);
    const spelling = spellingOf(name);
    const pool = this.#pools.get(spelling);
    pool?.remove(instanceId);
    if (pool?.size === 0) this.#pools.delete(spelling);
    return true;
  }

  /** The availability of the instance may have changed. */
  refresh(instanceId: string): void {
    for (const name of this.toolsOf(instanceId).keys()) {
      this.#pools.get(spellingOf(name))?.refresh(instanceId);
    }
  }
}

/** The tools that are offered, those that are alike in all that is shown of them as one (TR19). */
class AlikeTools {
  readonly #byKey = new Map<string, { readonly tool: CheckedTool; holders: number }>();
  /** All of them together have so many. */
  bytes = 0;

  find(key: string): CheckedTool | undefined {
    return this.#byKey.get(key)?.tool;
  }

  /** One more client offers it. */
  hold(tool: CheckedTool): void {
    const known = this.#byKey.get(tool.key);
    if (known) known.holders += 1;
    else {
      this.#byKey.set(tool.key, { tool, holders: 1 });
      this.bytes += tool.bytes;
    }
  }

  /** One client fewer does. */
  release(key: string): void {
    const known = this.#byKey.get(key);
    if (!known) return;
    known.holders -= 1;
    if (known.holders > 0) return;
    this.#byKey.delete(key);
    this.bytes -= known.tool.bytes;
  }
}
