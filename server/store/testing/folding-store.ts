import { expect } from 'vitest';
import type { Call } from '#lib/call/call';
import type { Store } from '../sqlite-store.ts';
import { createStoreOnThisThread } from './store-on-this-thread.ts';

/** To compare one that is larger takes longer than the test. */
const LARGE_BYTES = 256 * 1024;

/**
 * The store of tests about calls: after each write the log of its calls is folded and compared
 * with the calls that were decided, so that nothing is left out of an event unseen (rule ST82).
 */
export function createFoldingStore(options: Parameters<typeof createStoreOnThisThread>[0]): Store {
  const store = createStoreOnThisThread(options);
  return {
    ...store,
    get failed() {
      return store.failed;
    },
    async write(changes, writeOptions) {
      await store.write(changes, writeOptions);
      const decided = new Map<string, Call>();
      for (const change of changes) {
        if (change.type === 'append_call') decided.set(change.call.id, change.call);
      }
      for (const [id, call] of decided) {
        if ((await store.callBytes(id)) > LARGE_BYTES) continue;
        const folded = await store.getCall(id);
        // Events that were appended meanwhile are compared by their own write.
        if (folded?.version === call.version) expect(folded).toEqual(call);
      }
    },
  };
}
