import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import { KeptArea, type Store } from '../store/room.ts';

const registrationSchema = z.object({
  /** Whose the client is, and by which token that one asks; null: the token of the first run. */
  owner: z.string(),
  tokenId: z.string().nullable(),
  /** They stand as they were registered, by name. */
  tools: z.record(z.string(), z.unknown()),
});
type Registration = z.infer<typeof registrationSchema>;

/** So many of one principal are kept. */
const MOST_CLIENTS = 100;
/** Above so much as JSON none of a client's tools are kept. */
const MOST_BYTES = 256 * 1024;

/**
 * The tools of clients that poll, on disk as long as the client is there: after a restart nothing
 * else says what it had registered, and it may not ask again soon.
 */
export class KeptRegistrations {
  readonly #kept: KeptArea<Registration>;
  readonly #known = new Map<string, Registration>();

  constructor({ store, clock }: { store: Pick<Store, 'write' | 'listKept'>; clock: Clock }) {
    this.#kept = new KeptArea({
      store,
      area: 'polling_client',
      schema: registrationSchema,
      now: clock.now,
    });
  }

  async load(): Promise<(readonly [clientId: string, registration: Registration])[]> {
    for (const { key, value } of await this.#kept.load()) this.#known.set(key, value);
    return [...this.#known];
  }

  /** Adds tools to those that are kept of the client. Resolves when they are on disk. */
  async add(clientId: string, { tools, ...whose }: Registration): Promise<void> {
    const known = this.#known.get(clientId);
    const next = { ...whose, tools: { ...known?.tools, ...tools } };
    const isSame = JSON.stringify(known) === JSON.stringify(next);
    if (isSame || (!known && this.#countOf(whose.owner) >= MOST_CLIENTS)) return;
    if (JSON.stringify(next).length > MOST_BYTES) return this.forget(clientId);
    this.#known.set(clientId, next);
    await this.#kept.change([{ key: clientId, value: next }]);
  }

  async forget(clientId: string): Promise<void> {
    if (this.#known.delete(clientId)) await this.#kept.change([{ key: clientId }]);
  }

  #countOf(owner: string): number {
    return [...this.#known.values()].filter((one) => one.owner === owner).length;
  }
}
