'use client';

import { type RefObject, useEffect, useState } from 'react';
import type { ApprovalListing } from '#lib/protocol/watch-messages';
import { keyOf } from '#lib/stores/listings-store';

type Requests = readonly ApprovalListing[];

/**
 * What is shown as waiting. While the list is held, what others decide keeps its place (IB11); what
 * was decided here goes, since its person has seen to it.
 */
export function useHeldRequests(
  waiting: Requests,
  isHeld: boolean,
  ownKeys: ReadonlySet<string>,
): Requests {
  const [before, setBefore] = useState(waiting);
  const shown = isHeld ? merged(before, waiting, ownKeys) : waiting;
  const isSame = shown.length === before.length && shown.every((one, at) => one === before[at]);
  if (!isSame) setBefore(shown);
  return isSame ? before : shown;
}

function merged(before: Requests, waiting: Requests, ownKeys: ReadonlySet<string>): Requests {
  const now = new Map(waiting.map((one) => [one.tool_call_id, one]));
  const still = before.filter((one) => now.has(one.tool_call_id) || !ownKeys.has(keyOf(one)));
  // One that is asked anew has another key, in its place.
  const kept = still.map((one) => now.get(one.tool_call_id) ?? one);
  const keys = new Set(kept.map(keyOf));
  return [...kept, ...waiting.filter((one) => !keys.has(keyOf(one)))];
}

/** A card that gets smaller while the list is held leaves the others where they are. */
export function useHeldHeights(page: RefObject<HTMLElement | null>, isHeld: boolean): void {
  useEffect(() => {
    if (!isHeld) return;
    const items = [...(page.current?.querySelectorAll<HTMLElement>('[data-request]') ?? [])];
    const heights = items.map((item) => item.offsetHeight);
    items.forEach((item, at) => {
      item.style.minHeight = `${heights[at]}px`;
    });
    return () => {
      for (const item of items) item.style.minHeight = '';
    };
  }, [page, isHeld]);
}
