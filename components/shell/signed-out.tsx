'use client';

import { useEffect, useSyncExternalStore } from 'react';
import { hasSessionKey, onSessionKey } from '../providers/page-session.ts';
import { useConnection } from '../providers/workbench-context.tsx';

/** Leaves for the sign-in page when the session has ended; drafts stay in the tab's memory. */
export function SignedOut() {
  const { feed, signingOut } = useConnection();
  // Each sign-in of a browser has sockets of its own; signing out is meant for all of its tabs.
  const hasKey = useSyncExternalStore(onSessionKey, hasSessionKey, () => true);
  const ended = (feed.kind === 'refused' || !hasKey) && !signingOut;
  useEffect(() => {
    if (!ended) return;
    const back = encodeURIComponent(location.pathname + location.search);
    location.assign(`/sign-in?expired=session&next=${back}`);
  }, [ended]);
  return null;
}
