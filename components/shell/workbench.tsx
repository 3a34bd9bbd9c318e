'use client';

import { useTranslations } from 'next-intl';
import { LiveCalls } from '#components/tool-call/live-calls';
import { Conversation } from '../conversation/conversation.tsx';
import { useSelectedRun } from '../conversation/use-selected-run.ts';
import { useIsNarrow } from '../providers/use-media-query.ts';
import { useUi } from '../providers/workbench-context.tsx';
import { PanelTabs, panelId, tabId } from './panel-tabs.tsx';
import { Split } from './split.tsx';

/** On a narrow screen the panel that is shown takes all; the other stays mounted and unseen. */
const ONE_PANEL =
  'max-md:data-[shown=chat]:[&>#panel-live]:hidden max-md:data-[shown=live]:[&>#panel-chat]:hidden';
const PART = 'min-w-0 overflow-hidden';

/**
 * Conversation left, live cards right; on a narrow screen one of them, with a
 * tab bar below. Both stay mounted, so that neither loses its place.
 */
export function Workbench() {
  const t = useTranslations('shell.panels');
  const nav = useTranslations('shell.nav');
  const narrow = useIsNarrow();
  const [runId] = useSelectedRun();
  const shown = useUi((state) => state.panel);
  const region = (panel: 'chat' | 'live') =>
    narrow
      ? { role: 'tabpanel', 'aria-labelledby': tabId(panel) }
      : { role: 'region', 'aria-label': t(panel) };
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">{nav('workbench')}</h1>
      <Split
        label={t('resize')}
        controls={panelId('chat')}
        shown={shown}
        className={`min-h-0 flex-1 ${ONE_PANEL}`}
        first={
          <div id={panelId('chat')} className={PART} {...region('chat')}>
            <Conversation />
          </div>
        }
        second={
          <div id={panelId('live')} className={PART} {...region('live')}>
            <LiveCalls {...(runId === null ? {} : { runId })} />
          </div>
        }
      />
      {narrow && <PanelTabs />}
    </div>
  );
}
