'use client';

import { TriangleAlert } from 'lucide-react';
import { usePathname, useRouter } from 'next/navigation';
import { useLocale, useTranslations } from 'next-intl';
import { type ReactNode, useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { tinykeys } from 'tinykeys';
import type { ApiResult } from '#lib/api/api-result';
import { joinSentences, type Theme } from '#lib/i18n/locales';
import type { Reach } from '#lib/protocol/reach';
import { createCallSummary } from '#lib/stores/calls-store';
import { useAnswer } from '../failure/use-answer.ts';
import { hasSessionKey, onSessionKey } from '../providers/page-session.ts';
import { TabClient } from '../providers/tab-client.tsx';
import {
  useAnnounce,
  useApi,
  useConnection,
  useUi,
  useWorkbench,
} from '../providers/workbench-context.tsx';
import { WorkbenchProvider } from '../providers/workbench-provider.tsx';
import { Button } from '../ui/button.tsx';
import { late } from '../ui/late.tsx';
import { showToast } from '../ui/toast.ts';
import { Toaster } from '../ui/toaster.tsx';
import { Header } from './header.tsx';
import { isTyping } from './is-typing.ts';
import { PAGES } from './pages.ts';
import { isAfterTyping, watchTakenFields } from './taken-field.ts';
import { singleKeysOn } from './use-single-keys.ts';

/** Pages for those who are not signed in: no sockets, no stores. */
const BARE_PAGE = /^\/sign-in(?:\/|$)/;

/**
 * What surrounds every page: header, feeds, this tab as a client. It stays
 * while one goes from page to page, so that sockets and stores do too.
 */
export function AppFrame({ theme, children }: { theme: Theme; children: ReactNode }) {
  const pathname = usePathname();
  if (BARE_PAGE.test(pathname)) return children;
  return (
    <WorkbenchProvider>
      <SkipLink />
      <div className="safe-area flex h-dvh flex-col">
        <Header theme={theme} />
        <InsecureBanner />
        <TabClient />
        <main id="content" tabIndex={-1} className="min-h-0 flex-1 overflow-y-auto outline-none">
          {children}
        </main>
      </div>
      <LiveRegions />
      <Overlays theme={theme} />
      <SignedOut />
    </WorkbenchProvider>
  );
}

/** Where the server is open to a network without TLS: who can read along, and what does not work there. */
export function InsecureBanner() {
  const t = useTranslations('shell.insecure');
  const [isHidden, setHidden] = useState(false);
  const { request } = useApi();
  const ask = useCallback(
    (): Promise<ApiResult<Reach>> => request({ method: 'GET', path: '/v1/reach' }),
    [request],
  );
  const answer = useAnswer(ask);
  // Without an answer the state of the connection is shown above.
  if (!answer?.ok || !answer.value.plaintext || isHidden) return null;
  const address = answer.value.addresses.find(({ from }) => from === 'network')?.origin ?? '';
  return (
    <section
      aria-labelledby="insecure-title"
      className="flex flex-wrap items-start gap-x-3 gap-y-2 border-b border-line bg-errorbg px-4 py-2 text-sm"
    >
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-error" />
      <div role="alert" className="min-w-0 flex-1 basis-64 wrap-anywhere">
        <p id="insecure-title" className="font-semibold text-error">
          {t('title')}
        </p>
        <p>{t('text', { address })}</p>
      </div>
      <Button size="sm" onClick={() => setHidden(true)}>
        {t('hide')}
      </Button>
    </section>
  );
}

/** Leaves for the sign-in page when the session has ended; drafts stay in the tab's memory. */
export function SignedOut() {
  const { feed, signingOut } = useConnection();
  // Each sign-in of a browser has sockets of its own; signing out is meant for all of its tabs.
  const hasKey = useSyncExternalStore(onSessionKey, hasSessionKey, () => true);
  const ended = (feed.kind === 'refused' || !hasKey) && !signingOut;
  useEffect(() => {
    if (!ended) return;
    const back = encodeURIComponent(location.pathname + location.search);
    location.assign(`/sign-in?expired=session&next=${back}`);
  }, [ended]);
  return null;
}

function SkipLink() {
  const t = useTranslations('shell');
  return (
    <a
      href="#content"
      className="btn sr-only focus:not-sr-only focus:fixed focus:left-2 focus:top-2 focus:z-50"
    >
      {t('skip')}
    </a>
  );
}

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

/** Apart enough for a sentence to be read out to its end. */
const EVERY_MS = 1_500;

/** Sums up what finished since the last time, for those who listen. */
function useCallAnnouncements(): void {
  const { calls } = useWorkbench();
  const t = useTranslations('shell.calls');
  const locale = useLocale();
  const announce = useAnnounce();
  useEffect(() => {
    const summary = createCallSummary(calls.getState());
    const timer = setInterval(() => {
      const { done, failed } = summary.since(calls.getState());
      const finished = [
        ...(done.length > 0 ? [t('done', { count: done.length, tools: names(done) })] : []),
        ...(failed.length > 0 ? [t('failed', { count: failed.length, tools: names(failed) })] : []),
      ];
      if (finished.length > 0) announce(joinSentences(finished, locale));
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [calls, t, locale, announce]);
}

/** Each name once, and not so many that it becomes a speech. */
const names = (tools: readonly string[]): string => [...new Set(tools)].slice(0, 3).join(', ');

/** Announces that the connection was lost, that the server's disk is why, after it is back what was caught up, and that a request waits for this tab. */
function useConnectionAnnouncements(): void {
  const { connection, tab } = useWorkbench();
  const t = useTranslations('shell.connection');
  const common = useTranslations('common');
  const request = useTranslations('errors.request');
  const announce = useAnnounce();
  useEffect(
    () =>
      connection.subscribe((now, before) => {
        if (before.feed.kind === 'connected' && now.feed.kind !== 'connected') announce(t('lost'));
        if (now.storeFailed && !before.storeFailed) announce(request('store_failed'));
        if (before.storeFailed && !now.storeFailed) {
          announce(t(now.feed.kind === 'connected' ? 'connected' : 'lost'));
        }
        if (!now.caughtUp || now.caughtUp === before.caughtUp) return;
        const { events } = now.caughtUp;
        const text = events === null ? t('caughtUpAll') : t('caughtUp', { count: events });
        // The toast speaks for itself: it is a live region of its own.
        showToast(text);
      }),
    [connection, t, request, announce],
  );
  useEffect(
    () =>
      tab.subscribe((now, before) => {
        if (now.waiting > 0 && before.waiting === 0) announce(common('connectingTab'));
      }),
    [tab, common, announce],
  );
}

const inMiddle = { frame: (words: ReactNode) => <Middle>{words}</Middle> };

const CommandPalette = late<{ theme: Theme }>(
  () => import('./command-palette.tsx').then((module) => module.CommandPalette),
  inMiddle,
);
const ShortcutsSheet = late<object>(
  () => import('./shortcuts-sheet.tsx').then((module) => module.ShortcutsSheet),
  inMiddle,
);

/** These lie over the page when asked for; their code is fetched then. */
function Overlays({ theme }: { theme: Theme }) {
  const t = useTranslations('shell');
  const common = useTranslations('common');
  const dialog = useUi((state) => state.dialog);
  useShortcuts();
  return (
    <>
      {dialog === 'palette' && <CommandPalette theme={theme} />}
      {dialog === 'keys' && <ShortcutsSheet />}
      <Toaster label={t('notifications')} closeLabel={common('close')} />
    </>
  );
}

/** Where the dialog will be. */
function Middle({ children }: { children: ReactNode }) {
  const common = useTranslations('common');
  const open = useUi((state) => state.open);
  return (
    <div className="popup fixed left-1/2 top-1/3 z-50 flex -translate-x-1/2 items-center gap-3 p-4">
      {children}
      <Button size="sm" onClick={() => open(null)}>
        {common('close')}
      </Button>
    </div>
  );
}

/** Keys that work on every page. Single keys are off while one types, and can be off for good. */
export function useShortcuts(): void {
  const { ui, me } = useWorkbench();
  const router = useRouter();
  useEffect(watchTakenFields, []);
  useEffect(() => {
    const single = (run: () => void) => (event: KeyboardEvent) => {
      if (isTyping(event.target) || !singleKeysOn() || ui.getState().dialog) return;
      if (isAfterTyping()) return;
      event.preventDefault();
      run();
    };
    const { open, wantMessage, show } = ui.getState();
    const goTo = PAGES.map(({ href, key }) => [`g ${key}`, single(() => router.push(href))]);
    return tinykeys(window, {
      ...Object.fromEntries(goTo),
      '$mod+KeyK': (event: KeyboardEvent) => {
        event.preventDefault();
        open(ui.getState().dialog === 'palette' ? null : 'palette');
      },
      // A viewer has no field to write in.
      '/': single(() => me.getState().me?.role !== 'viewer' && wantMessage()),
      BracketLeft: single(() => show('chat')),
      BracketRight: single(() => show('live')),
      '(\\?)': single(() => open('keys')),
      'Shift+(\\?)': single(() => open('keys')),
    });
  }, [ui, me, router]);
}
