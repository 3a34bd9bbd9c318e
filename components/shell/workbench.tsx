'use client';

import { useTranslations } from 'next-intl';
import { Group, Panel, Separator } from 'react-resizable-panels';
import { LiveCalls } from '#components/tool-call/live-calls';
import { Conversation } from '../conversation/conversation.tsx';
import { useSelectedRun } from '../conversation/use-selected-run.ts';
import { useIsNarrow } from '../providers/use-media-query.ts';
import { useUi } from '../providers/workbench-context.tsx';
import { PanelTabs, panelId, tabId } from './panel-tabs.tsx';

/** On a narrow screen the panel that is shown takes all; the other stays mounted and unseen. */
const ONE_PANEL =
  'max-md:[&>[data-panel]]:grow! max-md:data-[shown=chat]:[&>#panel-live]:hidden! max-md:data-[shown=live]:[&>#panel-chat]:hidden!';

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
      <Group orientation="horizontal" data-shown={shown} className={`min-h-0 flex-1 ${ONE_PANEL}`}>
        <Panel
          id={panelId('chat')}
          {...region('chat')}
          defaultSize="41.7%"
          minSize={narrow ? '0%' : '300px'}
        >
          <Conversation />
        </Panel>
        <Separator
          aria-label={t('resize')}
          className="w-px bg-line outline-offset-0 data-[separator=active]:bg-accent data-[separator=hover]:bg-linestrong max-md:hidden"
        />
        <Panel id={panelId('live')} {...region('live')} minSize={narrow ? '0%' : '320px'}>
          <LiveCalls {...(runId === null ? {} : { runId })} />
        </Panel>
      </Group>
      {narrow && <PanelTabs />}
    </div>
  );
}
