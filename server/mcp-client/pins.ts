import { hash } from 'node:crypto';
import { z } from 'zod';
import { deviceToolSchema } from '#lib/protocol/device';
import type { Clock } from '../base/clock.ts';
import { KeptArea, type Store } from '../store/room.ts';

const pinSchema = z.object({
  server: z.string(),
  /** What the server calls it. */
  foreign: z.string(),
  /** As it was seen first, or accepted last; `hash` is of all that is shown of it. */
  tool: deviceToolSchema,
});
export type Pin = z.infer<typeof pinSchema>;

const keyOf = ({ server, foreign }: Pick<Pin, 'server' | 'foreign'>): string =>
  `${server} ${hash('sha256', foreign, 'base64url')}`;

/** The form of each tool that may be called, over restarts. Who puts them bounds how many there are. */
export class Pins {
  readonly #area: KeptArea<Pin>;

  constructor({ store, clock }: { store: Pick<Store, 'write' | 'listKept'>; clock: Clock }) {
    this.#area = new KeptArea({ store, area: 'mcp_pin', schema: pinSchema, now: clock.now });
  }

  /** By server. Those of servers that are not configured any more are forgotten. */
  async load(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, readonly Pin[]>> {
    const all = (await this.#area.load()).map(({ value }) => value);
    const unused = all.filter(({ server }) => !ids.has(server));
    if (unused.length > 0) await this.#area.change(unused.map((pin) => ({ key: keyOf(pin) })));
    return Map.groupBy(
      all.filter(({ server }) => ids.has(server)),
      ({ server }) => server,
    );
  }

  /** Resolves when they are on disk. */
  put(pins: readonly Pin[]): Promise<void> {
    return this.#area.change(pins.map((pin) => ({ key: keyOf(pin), value: pin })));
  }
}
