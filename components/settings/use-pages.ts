'use client';

import { useCallback, useEffect, useRef, useState } from 'react';
import type { ApiFailure, ApiResult } from '#lib/api/api-result';

export interface Page<Item, Cursor> {
  readonly items: readonly Item[];
  /** Null on the last page. */
  readonly next: Cursor | null;
}

/** Asks for the first page, or for the one at `cursor`. */
export type AskPage<Item, Cursor> = (cursor?: Cursor) => Promise<ApiResult<Page<Item, Cursor>>>;

interface State<Item, Cursor> {
  /** Null until the first page has come. */
  readonly items: readonly Item[] | null;
  readonly next: Cursor | null;
  readonly failure: ApiFailure | null;
  readonly isLoading: boolean;
}

export interface Pages<Item> extends Omit<State<Item, unknown>, 'next'> {
  readonly hasMore: boolean;
  /** Fetches the next page, or after a failure the same one again. */
  more(): void;
  /** Fetches the first page again; what is shown stays until it has come, and further pages behind it. */
  renew(): void;
  change(change: (items: readonly Item[]) => readonly Item[]): void;
}

/**
 * A list that comes by pages; from its first one again when `ask` is another function. `keyOf`
 * finds an item of the list in a renewed first page.
 */
export function usePages<Item, Cursor>(
  ask: AskPage<Item, Cursor>,
  keyOf: (item: Item) => unknown = same,
): Pages<Item> {
  const [state, setState] = useState<State<Item, Cursor>>(EMPTY);
  const current = useRef(ask);
  const load = useCallback(
    async (cursor?: Cursor) => {
      setState((before) => ({ ...before, isLoading: true, failure: null }));
      const answer = await ask(cursor);
      // Of another filter, or of a page that is left.
      if (current.current !== ask) return;
      setState((before) => {
        if (!answer.ok) return { ...before, isLoading: false, failure: answer };
        const { items, next } = answer.value;
        const shown = cursor === undefined ? [] : (before.items ?? []);
        return { items: [...shown, ...items], next, failure: null, isLoading: false };
      });
    },
    [ask],
  );
  useEffect(() => {
    current.current = ask;
    setState(EMPTY);
    void load();
  }, [ask, load]);
  const changes = useRef(0);
  const isRenewing = useRef(false);
  const renew = useCallback(async () => {
    if (isRenewing.current) return;
    isRenewing.current = true;
    const seen = changes.current;
    const answer = await ask();
    isRenewing.current = false;
    // What was changed meanwhile is newer than the answer.
    if (current.current !== ask || seen !== changes.current) return;
    setState((before) => {
      if (!answer.ok) return { ...before, isLoading: false, failure: answer };
      return { ...renewed(before, answer.value, keyOf), isLoading: false, failure: null };
    });
  }, [ask, keyOf]);
  const change = useCallback<Pages<Item>['change']>((by) => {
    changes.current += 1;
    setState((before) => ({ ...before, items: by(before.items ?? []) }));
  }, []);
  return {
    items: state.items,
    failure: state.failure,
    isLoading: state.isLoading,
    hasMore: state.next !== null,
    more: () => {
      if (!state.isLoading) void load(state.next ?? undefined);
    },
    renew: () => {
      if (!state.isLoading) void renew();
    },
    change,
  };
}

const EMPTY = { items: null, next: null, failure: null, isLoading: true };

const same = (item: unknown): unknown => item;

/** The first page, and what was shown behind it; that page alone where it does not reach the rest. */
function renewed<Item, Cursor>(
  before: State<Item, Cursor>,
  first: Page<Item, Cursor>,
  keyOf: (item: Item) => unknown,
): Pick<State<Item, Cursor>, 'items' | 'next'> {
  const shown = before.items ?? [];
  const keys = new Set(first.items.map(keyOf));
  const last = shown.findLastIndex((item) => keys.has(keyOf(item)));
  const rest = last < 0 ? [] : shown.slice(last + 1);
  return rest.length === 0 ? first : { items: [...first.items, ...rest], next: before.next };
}
