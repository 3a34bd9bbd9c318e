'use client';

import { useEffect } from 'react';
import { useConnection } from '../providers/workbench-context.tsx';

/** Leaves for the sign-in page when the session has ended; drafts stay in the tab's memory. */
export function SignedOut() {
  const { feed, signingOut } = useConnection();
  const ended = feed.kind === 'refused' && !signingOut;
  useEffect(() => {
    if (!ended) return;
    const back = encodeURIComponent(location.pathname + location.search);
    location.assign(`/sign-in?expired=session&next=${back}`);
  }, [ended]);
  return null;
}
