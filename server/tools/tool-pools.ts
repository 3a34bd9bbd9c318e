import { spellingOf } from '#lib/protocol/tool-name';
import { ToolPool } from './tool-pool.ts';
import type { AvailabilityOf, CheckedTool, ClientTool } from './tool-provider.ts';

/** It knows who serves which name: the tools of clients by name, by instance and by model spelling. */
export class ToolPools {
  readonly alike = new AlikeTools();
  readonly #availability: AvailabilityOf;
  readonly #byName = new Map<string, ToolPool>();
  readonly #byInstance = new Map<string, Map<string, ClientTool>>();
  readonly #bySpelling = new Map<string, string>();

  constructor(availability: AvailabilityOf) {
    this.#availability = availability;
  }

  /** The other name that has this one's spelling to a model, in whatever case, if there is one. */
  nameInTheWay(name: string): string | undefined {
    const holder = this.#bySpelling.get(spellingOf(name));
    return holder === name ? undefined : holder;
  }

  put(tool: ClientTool): void {
    const { name, instanceId } = tool;
    const pool = this.#byName.get(name) ?? new ToolPool(name, this.#availability);
    this.#byName.set(name, pool);
    pool.put(tool);
    const own = this.#byInstance.get(instanceId) ?? new Map<string, ClientTool>();
    const replaced = own.get(name);
    this.#byInstance.set(instanceId, own.set(name, tool));
    this.alike.hold(tool);
    if (replaced) this.alike.release(replaced.key);
    this.#bySpelling.set(spellingOf(name), name);
  }

  /** False when the instance does not serve the name. */
  remove(instanceId: string, name: string): boolean {
    const pool = this.#byName.get(name);
    if (!pool?.remove(instanceId)) return false;
    if (pool.size === 0) {
      this.#byName.delete(name);
      this.#bySpelling.delete(spellingOf(name));
    }
    const own = this.#byInstance.get(instanceId);
    const removed = own?.get(name);
    if (removed) this.alike.release(removed.key);
    own?.delete(name);
    if (own?.size === 0) this.#byInstance.delete(instanceId);
    return true;
  }

  /** Gives what the instance offers, by name. */
  toolsOf(instanceId: string): ReadonlyMap<string, ClientTool> {
    return this.#byInstance.get(instanceId) ?? new Map();
  }

  names(): IterableIterator<string> {
    return this.#byName.keys();
  }

  /** Gives those who offer the name. */
  of(name: string): ToolPool | undefined {
    return this.#byName.get(name);
  }

  /** The availability of the instance may have changed. */
  refresh(instanceId: string): void {
    for (const name of this.toolsOf(instanceId).keys()) this.of(name)?.refresh(instanceId);
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
