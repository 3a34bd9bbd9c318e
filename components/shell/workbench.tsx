'use client';

import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { LiveCalls } from '#components/tool-call/live-calls';
import { Conversation } from '../conversation/conversation.tsx';
import { useSelectedRun } from '../conversation/use-selected-run.ts';
import { useIsNarrow } from '../providers/use-media-query.ts';
import { useUi } from '../providers/workbench-context.tsx';
import { PanelTabs, panelId, tabId } from './panel-tabs.tsx';
import { Splitter } from './splitter.tsx';

/** On a narrow screen the panel that is shown takes all; the other stays mounted and unseen. */
const ONE_PANEL =
  'max-md:[&>[data-panel]]:basis-full! max-md:data-[shown=chat]:[&>#panel-live]:hidden max-md:data-[shown=live]:[&>#panel-chat]:hidden';

/** In percent. */
const CHAT_SHARE = 41.7;

/**
 * Conversation left, live cards right; on a narrow screen one of them, with a
 * tab bar below. Both stay mounted, so that neither loses its place.
 */
export function Workbench() {
  const t = useTranslations('shell.panels');
  const nav = useTranslations('shell.nav');
  const narrow = useIsNarrow();
  const [runId] = useSelectedRun();
  const [share, setShare] = useState(CHAT_SHARE);
  const shown = useUi((state) => state.panel);
  const region = (panel: 'chat' | 'live') =>
    narrow
      ? { role: 'tabpanel', 'aria-labelledby': tabId(panel) }
      : { role: 'region', 'aria-label': t(panel) };
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">{nav('workbench')}</h1>
      <div data-shown={shown} className={`flex min-h-0 flex-1 ${ONE_PANEL}`}>
        <div
          id={panelId('chat')}
          data-panel
          {...region('chat')}
          style={{ flexBasis: `${share}%` }}
          className="min-w-0 grow-0 md:min-w-75"
        >
          <Conversation />
        </div>
        <Splitter label={t('resize')} controls={panelId('chat')} share={share} onShare={setShare} />
        <div
          id={panelId('live')}
          data-panel
          {...region('live')}
          className="min-w-0 flex-1 md:min-w-80"
        >
          <LiveCalls {...(runId === null ? {} : { runId })} />
        </div>
      </div>
      {narrow && <PanelTabs />}
    </div>
  );
}
