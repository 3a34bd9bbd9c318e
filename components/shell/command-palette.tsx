'use client';

import { Command } from 'cmdk';
import { useRouter } from 'next/navigation';
import { useLocale, useTranslations } from 'next-intl';
import { useEffect, useState } from 'react';
import type { ApiFailure } from '#lib/api/api-result';
import { formatRelativeTime } from '#lib/format/amounts';
import { jsonLine } from '#lib/format/json-preview';
import type { Theme } from '#lib/i18n/locales';
import type { ListedCall } from '#lib/protocol/call-record';
import { useFormatFailure } from '../failure/format-failure.ts';
import {
  useApi,
  useIsViewer,
  useRevealCall,
  useTools,
  useUi,
} from '../providers/workbench-context.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { serverNow } from '../ui/server-clock.ts';
import { PAGES } from './pages.ts';
import { useOtherLanguage } from './use-language.ts';
import { useSignOut } from './use-sign-out.ts';
import { useTheme } from './use-theme.ts';

const GROUP =
  '[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-semibold [&_[cmdk-group-heading]]:text-muted';

/** Everything one can do or go to, by typing a few letters of it. */
export function CommandPalette({ theme }: { theme: Theme }) {
  const t = useTranslations('shell');
  const common = useTranslations('common');
  const router = useRouter();
  const tools = useTools();
  const isViewer = useIsViewer();
  const open = useUi((state) => state.open);
  const actions = usePaletteActions(theme);
  const [typed, setTyped] = useState('');
  const found = useFoundCalls(typed);
  const choose = (run: () => void) => () => {
    open(null);
    run();
  };
  return (
    <Dialog
      open
      onOpenChange={() => open(null)}
      title={t('palette.title')}
      closeLabel={common('close')}
    >
      <Command label={t('palette.title')} loop filter={matchPalette}>
        <Command.Input
          autoFocus
          value={typed}
          onValueChange={setTyped}
          placeholder={t('palette.placeholder')}
          className="field w-full"
        />
        <Command.List className="mt-2 max-h-[50dvh] overflow-y-auto">
          {found.state !== 'loading' && (
            <Command.Empty className="px-2.5 py-3 text-muted">{t('palette.empty')}</Command.Empty>
          )}
          <Command.Group heading={t('palette.actions')} className={GROUP}>
            {actions.map(({ name, run }) => (
              <Command.Item key={name} onSelect={choose(run)} className="menu-item">
                {name}
              </Command.Item>
            ))}
          </Command.Group>
          <Command.Group heading={t('palette.pages')} className={GROUP}>
            {PAGES.map(({ href, name }) => (
              <Command.Item
                key={href}
                onSelect={choose(() => router.push(href))}
                className="menu-item"
              >
                {t(`nav.${name}`)}
              </Command.Item>
            ))}
          </Command.Group>
          <Command.Group heading={t(isViewer ? 'nav.tools' : 'palette.tools')} className={GROUP}>
            {tools.map(({ name, description }) => (
              <Command.Item
                key={name}
                value={name}
                keywords={[description]}
                onSelect={choose(() => router.push(`/tools?tool=${encodeURIComponent(name)}`))}
                className="menu-item"
              >
                <span className="mono shrink-0 font-semibold">{name}</span>
                <span className="truncate text-muted">
                  <MarkedText text={description} />
                </span>
              </Command.Item>
            ))}
          </Command.Group>
          <PaletteCalls found={found} className={GROUP} choose={choose} />
        </Command.List>
        <PaletteSearchState found={found} />
      </Command>
    </Dialog>
  );
}

/** What the palette can do, by name. */
export function usePaletteActions(theme: Theme): { name: string; run: () => void }[] {
  const t = useTranslations('shell');
  const router = useRouter();
  const wantMessage = useUi((state) => state.wantMessage);
  const open = useUi((state) => state.open);
  const { next } = useTheme(theme);
  const otherLanguage = useOtherLanguage();
  const signOut = useSignOut();
  const isViewer = useIsViewer();
  const write = () => {
    router.push('/');
    wantMessage();
  };
  return [
    ...(isViewer ? [] : [{ name: t('palette.newConversation'), run: write }]),
    { name: t('palette.toggleTheme'), run: next },
    { name: t('palette.toggleLanguage'), run: otherLanguage },
    { name: t('palette.shortcuts'), run: () => open('keys') },
    { name: t('signOut'), run: () => void signOut() },
  ];
}

interface PaletteCallsProps {
  found: FoundCalls;
  className: string;
  /** Closes the palette, then runs what was chosen. */
  choose: (run: () => void) => () => void;
}

/** Calls of the history that have the typed words; one that is chosen is shown in its conversation. */
function PaletteCalls({ found, className, choose }: PaletteCallsProps) {
  const t = useTranslations('shell.palette');
  const locale = useLocale();
  const router = useRouter();
  const reveal = useRevealCall();
  const show = useUi((state) => state.show);
  if (found.state !== 'ready' || found.calls.length === 0) return null;
  const open = (call: ListedCall) => {
    router.push(`/?run=${encodeURIComponent(call.run_id)}`);
    show('live');
    reveal(call.tool_call_id);
  };
  return (
    <Command.Group heading={t('calls')} className={className}>
      {found.calls.map((call) => (
        <Command.Item
          key={call.tool_call_id}
          value={`${FOUND_PREFIX}${call.tool_call_id}`}
          onSelect={choose(() => open(call))}
          className="menu-item"
        >
          <span className="mono shrink-0 font-semibold">{call.tool_name}</span>
          <span className="min-w-0 flex-1 truncate text-muted">
            <MarkedText text={jsonLine(call.args, 120)} />
          </span>
          <span className="shrink-0 text-xs text-muted">
            {formatRelativeTime(call.created_at * 1_000, serverNow(), locale)}
          </span>
        </Command.Item>
      ))}
    </Command.Group>
  );
}

/** Whether calls are looked for still, or could not be. */
function PaletteSearchState({ found }: { found: FoundCalls }) {
  const t = useTranslations('shell.palette');
  const formatFailure = useFormatFailure();
  return (
    <div role="status">
      {found.state === 'loading' && <p className="px-2.5 py-2 text-muted">{t('searching')}</p>}
      {found.state === 'failed' && (
        <p className="px-2.5 py-2 text-error">
          {t('searchFailed', { reason: formatFailure(found.failure) })}
        </p>
      )}
    </div>
  );
}

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');

/** Those that the server found are shown as they come. */
const FOUND_PREFIX = 'found:';

/**
 * How well a name fits what was typed: 1 where it has all of it, less where each word begins a word of it or
 * of what is written beside it, 0 for letters that are only scattered over it.
 */
export function matchPalette(name: string, typed: string, beside: readonly string[] = []): number {
  if (name.startsWith(FOUND_PREFIX)) return 1;
  const search = typed.trim().toLowerCase();
  if (name.toLowerCase().includes(search)) return 1;
  const words = wordsOf([name, ...beside].join(' '));
  const wanted = wordsOf(search);
  const isBegun = (part: string) => words.some((word) => word.startsWith(part));
  return wanted.length > 0 && wanted.every(isBegun) ? 0.5 : 0;
}

/** Typing that goes on asks nothing. */
const PAUSE_MS = 250;
/** The server takes no more of them. */
const MOST_WORDS = 8;
const LEAST_CHARS = 2;
const MOST_CALLS = 8;

type FoundCalls =
  | { readonly state: 'none' }
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly failure: ApiFailure }
  | { readonly state: 'ready'; readonly calls: readonly ListedCall[] };

const NONE: FoundCalls = { state: 'none' };
const LOADING: FoundCalls = { state: 'loading' };

/** The newest calls whose arguments, result or error have all the words: asked once typing rests. */
function useFoundCalls(typed: string): FoundCalls {
  const api = useApi();
  const words = typed.trim().split(/\s+/u).slice(0, MOST_WORDS).join(' ');
  const [found, setFound] = useState<{ words: string; calls: FoundCalls } | null>(null);
  const isAsked = words.length >= LEAST_CHARS;
  useEffect(() => {
    if (!isAsked) return;
    let isWanted = true;
    const ask = async () => {
      const path = `/v1/tool_calls?q=${encodeURIComponent(words)}&limit=${MOST_CALLS}`;
      const answer = await api.request<{ tool_calls: ListedCall[] }>({ method: 'GET', path });
      if (!isWanted) return;
      const calls: FoundCalls = answer.ok
        ? { state: 'ready', calls: answer.value.tool_calls }
        : { state: 'failed', failure: answer };
      setFound({ words, calls });
    };
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [api, words, isAsked]);
  if (!isAsked) return NONE;
  return found?.words === words ? found.calls : LOADING;
}
