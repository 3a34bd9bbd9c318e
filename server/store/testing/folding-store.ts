import { isDeepStrictEqual } from 'node:util';
import type { CallRecord } from '#lib/call/call-record';
import { createSqliteStore } from '../sqlite-store.ts';
import type { Store } from '../store.ts';

/**
 * The store of tests about calls: after each write the log of its calls is folded and compared
 * with the calls that were decided, so that nothing is left out of an event unseen (rule ST82).
 */
export function createFoldingStore(options: Parameters<typeof createSqliteStore>[0]): Store {
  const store = createSqliteStore(options);
  return {
    ...store,
    get failed() {
      return store.failed;
    },
    async write(changes, writeOptions) {
      await store.write(changes, writeOptions);
      const decided = new Map<string, CallRecord>();
      for (const change of changes) {
        if (change.type === 'append_call') decided.set(change.call.id, change.call);
      }
      for (const [id, call] of decided) {
        const folded = await store.getCall(id);
        if (folded && folded.version === call.version) compare(folded, call);
      }
    },
  };
}

function compare(folded: CallRecord, decided: CallRecord): void {
  const [is, was] = [folded, decided].map((call) => JSON.parse(JSON.stringify(call)));
  if (isDeepStrictEqual(is, was)) return;
  const differ = [...new Set([...Object.keys(is), ...Object.keys(was)])].filter(
    (name) => !isDeepStrictEqual(is[name], was[name]),
  );
  const [folds, decides] = [is, was].map((call) =>
    JSON.stringify(Object.fromEntries(differ.map((name) => [name, call[name]]))),
  );
  throw new Error(`the log of ${decided.id} folds to ${folds}, and ${decides} was decided`);
}
