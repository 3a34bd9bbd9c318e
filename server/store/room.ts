import type { z } from 'zod';
import type { Store } from './sqlite-store.ts';
import type { KeptEntry } from './store.ts';

export { takeDataDir, untilWritable } from './data-dir.ts';
export type { History } from './history.ts';
export { describeEnd, EXIT } from './integrity/describe-end.ts';
export { openStore } from './open-store.ts';
export type { Store } from './sqlite-store.ts';
export type * from './store.ts';
export {
  BadCursorError,
  BadSearchError,
  isDiskTrouble,
  RowDamagedError,
  StoreBusyError,
  StoreFailedError,
  VersionConflictError,
} from './store-errors.ts';

interface KeptAreaDeps<Value> {
  readonly store: Pick<Store, 'write' | 'listKept'>;
  readonly area: KeptEntry['area'];
  readonly schema: z.ZodType<Value>;
  now(): number;
}

/** Small values of one kind that outlive the server. The part that has the area bounds its number. */
export class KeptArea<Value> {
  readonly #deps: KeptAreaDeps<Value>;

  constructor(deps: KeptAreaDeps<Value>) {
    this.#deps = deps;
  }

  /** In the order in which they were put. Rejects with a `ZodError` where one is of another form. */
  async load(): Promise<{ key: string; value: Value }[]> {
    const entries = await this.#deps.store.listKept(this.#deps.area);
    return entries.map(({ key, value }) => ({ key, value: this.#deps.schema.parse(value) }));
  }

  /** Resolves when all of it is on disk. `value` undefined: it is deleted. */
  change(changes: readonly { readonly key: string; readonly value?: Value }[]): Promise<void> {
    const { store, area, now } = this.#deps;
    return store.write(
      changes.map(({ key, value }) =>
        value === undefined
          ? { type: 'delete_kept', area, key }
          : { type: 'put_kept', entry: { area, key, value, putAt: now() } },
      ),
    );
  }
}
