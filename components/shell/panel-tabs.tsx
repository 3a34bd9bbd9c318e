'use client';

import { Activity, MessageSquare } from 'lucide-react';
import { useTranslations } from 'next-intl';
import type { KeyboardEvent } from 'react';
import type { Panel } from '#lib/stores/ui-store';
import { useApprovals, useUi } from '../providers/workbench-context.tsx';

const TABS = [
  { panel: 'chat', Icon: MessageSquare },
  { panel: 'live', Icon: Activity },
] as const;

export const panelId = (panel: Panel): string => `panel-${panel}`;
export const tabId = (panel: Panel): string => `tab-${panel}`;

/** The tab bar of a narrow screen, at the bottom where a thumb reaches it. */
export function PanelTabs() {
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
