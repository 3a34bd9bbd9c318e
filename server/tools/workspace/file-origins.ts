import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import { KeptArea, type Store } from '../../store/room.ts';

/** Files whose writers are kept; beyond that all of the workspace counts as written after others. */
const MOST_FILES = 10_000;

/** In place of a path: each file of which nothing else is kept. */
const ALL = '';

const keptSchema = z.object({ by: z.string().nullable() });

/**
 * Which files of the workspace may have the words of others: by what was read before they were
 * written (TF12). Kept over restarts, and as long as nothing else is written there.
 */
export class FileOrigins {
  readonly #area: KeptArea<z.infer<typeof keptSchema>>;
  /** By path: the tool by which content of others had been read; null: none was. */
  readonly #by: Map<string, string | null>;

  private constructor(area: KeptArea<z.infer<typeof keptSchema>>, by: Map<string, string | null>) {
    this.#area = area;
    this.#by = by;
  }

  static async open(deps: {
    store: Pick<Store, 'write' | 'listKept'>;
    clock: Pick<Clock, 'now'>;
  }): Promise<FileOrigins> {
    const { store, clock } = deps;
    const now = () => clock.now();
    const area = new KeptArea({ store, area: 'file_origin', schema: keptSchema, now });
    const kept = await area.load();
    return new FileOrigins(area, new Map(kept.map(({ key, value }) => [key, value.by])));
  }

  of(path: string): string | null {
    return this.#by.get(path) ?? (this.#by.has(path) ? null : (this.#by.get(ALL) ?? null));
  }

  /** The same of the names in a folder; of the workspace itself without a path. */
  within(folder: string): string | null {
    const inside = folder === '' ? '' : `${folder}/`;
    const found = [...this.#by].find(([path, by]) => by !== null && path.startsWith(inside));
    return found?.[1] ?? this.#by.get(ALL) ?? null;
  }

  async wrote(path: string, by: string | null): Promise<void> {
    if (by === null && this.of(path) === null) return;
    if (this.#by.size >= MOST_FILES && !this.#by.has(path)) return this.wroteAnywhere(by);
    this.#by.set(path, by);
    await this.#area.change([{ key: path, value: { by } }]);
  }

  /** A program may have written any file. */
  async wroteAnywhere(by: string | null): Promise<void> {
    if (by === null) return;
    const forgotten = [...this.#by.keys()].filter((key) => key !== ALL);
    this.#by.clear();
    this.#by.set(ALL, by);
    const deleted = forgotten.map((key) => ({ key }));
    await this.#area.change([...deleted, { key: ALL, value: { by } }]);
  }
}
