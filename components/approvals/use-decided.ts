'use client';

import { useState } from 'react';
import type { ApprovalListing } from '#lib/protocol/watch-messages';
import { keyOf } from '#lib/stores/listings-store';

/** Of what was decided while the page is open. */
const MOST = 20;

type Requests = readonly ApprovalListing[];

interface Decided {
  readonly request: ApprovalListing;
  /** Its question still waits: calls that one decision decides leave one by one. */
  readonly isOpen: boolean;
}

interface Seen {
  readonly waiting: Requests;
  readonly decided: readonly Decided[];
}

/** What has waited on this page and no longer does, newest first: people see how it ended. */
export function useDecided(waiting: Requests): Requests {
  const [seen, setSeen] = useState<Seen>({ waiting, decided: [] });
  const isSame = idsOf(waiting) === idsOf(seen.waiting);
  const now = isSame ? seen : next(seen, waiting);
  if (!isSame) setSeen(now);
  return now.decided.map(({ request }) => request);
}

/** Each question is there once, with the call of it that left last. */
function next({ waiting: before, decided }: Seen, waiting: Requests): Seen {
  const ids = new Set(waiting.map(idOf));
  const keys = new Set(waiting.map(keyOf));
  const left = before.filter((one) => !ids.has(idOf(one)));
  const leftKeys = new Set(left.map(keyOf));
  const others = decided.filter(
    ({ request, isOpen }) => !ids.has(idOf(request)) && !(isOpen && leftKeys.has(keyOf(request))),
  );
  const all = [...left.map((request) => ({ request, isOpen: true })), ...others];
  return {
    waiting,
    decided: all
      .slice(0, MOST)
      .map(({ request, isOpen }) => ({ request, isOpen: isOpen && keys.has(keyOf(request)) })),
  };
}

const idOf = ({ tool_call_id: id }: ApprovalListing): string => id;
const idsOf = (requests: Requests): string => requests.map(idOf).join(' ');
