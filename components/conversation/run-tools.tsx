'use client';

import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { RunToolList } from './run-tool-list.tsx';

/**
 * Above the messages of a run: which tools its model is offered, and why not the others. Fetched when
 * opened. Its code comes with the run's view, which is late itself: a chunk more would be named in
 * the first load of the workbench.
 */
export function RunTools({ runId }: { runId: string }) {
  const t = useTranslations('conversation.tools');
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      data-testid="run-tools"
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="px-4 text-xs text-muted"
    >
      <summary className="min-h-6 w-fit cursor-pointer rounded leading-6 hover:text-fg pointer-coarse:leading-11">
        {t('title')}
      </summary>
      {isOpen && <RunToolList runId={runId} />}
    </details>
  );
}
