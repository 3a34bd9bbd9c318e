import { z } from 'zod';
import type { Change, Store } from '../store/room.ts';

/** The oldest is forgotten beyond. */
const MOST = 500;

const blockSchema = z.object({ blockedAt: z.number(), blockedBy: z.string() });
type Block = z.infer<typeof blockSchema>;

/** Origins of pages that may not ask, until a person lifts that. Each is on disk. */
export class BlockedOrigins {
  readonly #store: Pick<Store, 'write' | 'listKept'>;
  /** Oldest first. */
  readonly #all = new Map<string, Block>();

  constructor(store: Pick<Store, 'write' | 'listKept'>) {
    this.#store = store;
  }

  async load(): Promise<void> {
    for (const { key, value } of await this.#store.listKept('blocked_origin')) {
      this.#all.set(key, blockSchema.parse(value));
    }
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
    const entry = { area: 'blocked_origin', key: origin, value: block, putAt: block.blockedAt };
    const changes: Change[] = [{ type: 'put_kept', entry: { ...entry, area: 'blocked_origin' } }];
    for (const key of [...this.#all.keys()].slice(0, Math.max(0, this.#all.size - MOST))) {
      this.#all.delete(key);
      changes.push({ type: 'delete_kept', area: 'blocked_origin', key });
    }
    await this.#store.write(changes);
  }

  /** False: it is not blocked. */
  async lift(origin: string): Promise<boolean> {
    if (!this.#all.delete(origin)) return false;
    await this.#store.write([{ type: 'delete_kept', area: 'blocked_origin', key: origin }]);
    return true;
  }
}
