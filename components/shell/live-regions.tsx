'use client';

import { useUi } from '../providers/workbench-context.tsx';
import { useCallAnnouncements } from './use-call-announcements.ts';
import { useConnectionAnnouncements } from './use-connection-announcements.ts';

/**
 * The one polite live region of the page. The list of cards itself is none:
 * at hundreds of updates a second it would never stop talking.
 */
export function LiveRegions() {
  const { text, at } = useUi((state) => state.announcement);
  useCallAnnouncements();
  useConnectionAnnouncements();
  return (
    <p role="status" className="sr-only">
      {/* A new element for each, so that the same words twice are announced twice. */}
      <span key={at}>{text}</span>
    </p>
  );
}
