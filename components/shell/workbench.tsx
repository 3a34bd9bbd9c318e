'use client';

import { Activity, MessageSquare } from 'lucide-react';
import { useTranslations } from 'next-intl';
import {
  type CSSProperties,
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useState,
  useSyncExternalStore,
} from 'react';
import { LiveCalls } from '#components/tool-call/live-calls';
import type { Panel } from '#lib/stores/ui-store';
import { Conversation } from '../conversation/conversation.tsx';
import { useSelectedRun } from '../conversation/use-selected-run.ts';
import { useApprovals, useUi } from '../providers/workbench-context.tsx';

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

/** Width of the first part in percent of both, before a person moves the line. */
const USUAL = 41.7;
/** Percent by which an arrow key moves the line. */
const STEP = 2;
/** Pixels that each part keeps; the columns below have the same numbers. */
const FIRST_LEAST = 300;
const SECOND_LEAST = 320;

interface SplitProps {
  /** Name of the line between the parts. */
  label: string;
  /** Id of the first part, whose width the line sets. */
  controls: string;
  /** `data-shown` of the whole, for the styles of narrow screens. */
  shown: string;
  className: string;
  first: ReactNode;
  second: ReactNode;
}

/** Two parts side by side; the line between them is moved by the pointer, arrow keys, Home and End. */
function Split({ label, controls, shown, className, first, second }: SplitProps) {
  const [share, setShare] = useState(USUAL);
  const style: CSSProperties & Record<'--first', string> = { '--first': `${share}%` };
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    // Moving the line marks no text; the press is no longer a way to get the focus.
    event.preventDefault();
    event.currentTarget.focus();
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent<HTMLElement>) => {
    const { currentTarget: line, clientX } = event;
    if (line.hasPointerCapture(event.pointerId)) {
      setShare(within(line, (left, width) => ((clientX - left) / width) * 100));
    }
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const to = { ArrowLeft: share - STEP, ArrowRight: share + STEP, Home: 0, End: 100 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    setShare(within(event.currentTarget, () => to));
  };
  return (
    <div
      data-shown={shown}
      style={style}
      className={`grid grid-rows-[minmax(0,1fr)] md:grid-cols-[clamp(300px,var(--first),100%_-_321px)_1px_minmax(0,1fr)] ${className}`}
    >
      {first}
      {/* biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved */}
      <div
        role="separator"
        tabIndex={0}
        aria-label={label}
        aria-orientation="vertical"
        aria-controls={controls}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share)}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onDoubleClick={() => setShare(USUAL)}
        onKeyDown={onKeyDown}
        className="relative z-10 cursor-col-resize touch-none bg-line outline-offset-0 before:absolute before:-inset-x-2 before:inset-y-0 hover:bg-linestrong active:bg-accent max-md:hidden"
      />
      {second}
    </div>
  );
}

/** Percent that leave both parts what they keep. */
function within(line: HTMLElement, wanted: (left: number, width: number) => number): number {
  const { left = 0, width = 1 } = line.parentElement?.getBoundingClientRect() ?? {};
  const least = (FIRST_LEAST / width) * 100;
  const most = ((width - SECOND_LEAST) / width) * 100;
  return Math.max(least, Math.min(most, wanted(left, width)));
}
