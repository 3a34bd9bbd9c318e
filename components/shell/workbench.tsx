'use client';

import { Activity, MessageSquare } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { type KeyboardEvent, useSyncExternalStore } from 'react';
import { LiveCalls } from '#components/tool-call/live-calls';
import type { Panel } from '#lib/stores/ui-store';
import { Conversation } from '../conversation/conversation.tsx';
import { useSelectedRun } from '../conversation/use-selected-run.ts';
import { useApprovals, useUi } from '../providers/workbench-context.tsx';
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

const TABS = [
  { panel: 'chat', Icon: MessageSquare },
  { panel: 'live', Icon: Activity },
] as const;

const panelId = (panel: Panel): string => `panel-${panel}`;
const tabId = (panel: Panel): string => `tab-${panel}`;

/** The tab bar of a narrow screen, at the bottom where a thumb reaches it. */
function PanelTabs() {
  const t = useTranslations('shell.panels');
  const shown = useUi((state) => state.panel);
  const show = useUi((state) => state.show);
  const approvals = useApprovals().length;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    const other = shown === 'chat' ? 'live' : 'chat';
    show(other);
    document.getElementById(tabId(other))?.focus();
  };
  return (
    <div
      role="tablist"
      aria-label={t('tabs')}
      onKeyDown={onKeyDown}
      className="flex shrink-0 border-t border-line bg-surface"
    >
      {TABS.map(({ panel, Icon }) => (
        <button
          key={panel}
          type="button"
          role="tab"
          id={tabId(panel)}
          aria-controls={panelId(panel)}
          aria-selected={shown === panel}
          tabIndex={shown === panel ? 0 : -1}
          onClick={() => show(panel)}
          className="flex min-h-12 flex-1 items-center justify-center gap-2 border-t-2 border-transparent -outline-offset-2 aria-selected:border-accent aria-selected:font-semibold"
        >
          <Icon aria-hidden className="size-4" />
          {t(panel)}
          {panel === 'live' && approvals > 0 && (
            <span className="rounded-full bg-attn px-1.5 text-xs font-bold text-attnfg">
              {approvals}
            </span>
          )}
        </button>
      ))}
    </div>
  );
}

/** Whether the query holds now; false while the server draws. */
function useMediaQuery(query: string): boolean {
  return useSyncExternalStore(
    (onChange) => {
      const list = matchMedia(query);
      list.addEventListener('change', onChange);
      return () => list.removeEventListener('change', onChange);
    },
    () => matchMedia(query).matches,
    () => false,
  );
}

/** One column and a tab bar instead of two panels. */
const useIsNarrow = (): boolean => useMediaQuery('(width < 48rem)');
