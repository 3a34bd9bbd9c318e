import type { Call } from '#lib/call/call';
import type { Store } from '../store/room.ts';

/** The newest `count` calls in the store, newest first; never more than a page of them at a time. */
export async function* readRecent(
  store: Pick<Store, 'listCalls'>,
  { runId, count }: { readonly runId?: string; readonly count: number },
): AsyncGenerator<Call> {
  let left = count;
  let cursor: string | null | undefined;
  while (left > 0 && cursor !== null) {
    const page = await store.listCalls({
      limit: left, // A page has no more than its most, whatever is asked for.
      ...(runId === undefined ? {} : { runId }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    yield* page.calls;
    left -= page.calls.length;
    cursor = page.nextCursor;
  }
}
