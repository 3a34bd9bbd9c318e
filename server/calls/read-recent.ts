import type { Call } from '#lib/call/call';
import type { Store } from '../store/room.ts';
import { estimateRecordBytes } from './ended-calls.ts';

/** What one page may take of memory; a call that is larger is a page of its own. */
const PAGE_BYTES = 16 * 1024 * 1024;
const MOST_OF_PAGE = 200;

/** The newest `count` calls in the store, newest first; never more than a page of them at a time. */
export async function* readRecent(
  store: Pick<Store, 'listCalls'>,
  { runId, count }: { readonly runId?: string; readonly count: number },
): AsyncGenerator<Call> {
  let left = count;
  let cursor: string | null | undefined;
  while (left > 0 && cursor !== null) {
    let room = PAGE_BYTES;
    let isFirst = true;
    const page = await store.listCalls({
      limit: Math.min(left, MOST_OF_PAGE),
      ...(runId === undefined ? {} : { runId }),
      ...(cursor === undefined ? {} : { cursor }),
      takes(call) {
        room -= estimateRecordBytes(call, PAGE_BYTES);
        const fits = isFirst || room >= 0;
        isFirst = false;
        return fits;
      },
    });
    yield* page.calls;
    left -= page.calls.length;
    cursor = page.nextCursor;
  }
}
