import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import { KeptArea, type Store } from '../store/room.ts';

/** The oldest is forgotten beyond. */
const MOST = 500;

const blockSchema = z.object({ blockedAt: z.number(), blockedBy: z.string() });
type Block = z.infer<typeof blockSchema>;

/** Origins of pages that may not ask, until a person lifts that. Each is on disk. */
export class BlockedOrigins {
  readonly #kept: KeptArea<Block>;
  /** Oldest first. */
  readonly #all = new Map<string, Block>();

  constructor(deps: { store: Pick<Store, 'write' | 'listKept'>; clock: Pick<Clock, 'now'> }) {
    const { store, clock } = deps;
    this.#kept = new KeptArea({
      store,
      area: 'blocked_origin',
      schema: blockSchema,
      now: clock.now,
    });
  }

  async load(): Promise<void> {
    for (const { key, value } of await this.#kept.load()) this.#all.set(key, value);
  }

  has(origin: string): boolean {
    return this.#all.has(origin);
  }

  list(): (Block & { readonly origin: string })[] {
    return [...this.#all].map(([origin, block]) => ({ origin, ...block })).reverse();
  }

  async add(origin: string, block: Block): Promise<void> {
    this.#all.delete(origin);
    this.#all.set(origin, block);
    const oldest = [...this.#all.keys()].slice(0, Math.max(0, this.#all.size - MOST));
    for (const key of oldest) this.#all.delete(key);
    await this.#kept.change([{ key: origin, value: block }, ...oldest.map((key) => ({ key }))]);
  }

  /** False: it is not blocked. */
  async lift(origin: string): Promise<boolean> {
    if (!this.#all.delete(origin)) return false;
    await this.#kept.change([{ key: origin }]);
    return true;
  }
}
