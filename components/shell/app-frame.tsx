'use client';

import { TriangleAlert } from 'lucide-react';
import { usePathname } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { type ReactNode, useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import type { ApiResult } from '#lib/api/api-result';
import type { Theme } from '#lib/i18n/locales';
import type { Reach } from '#lib/protocol/reach';
import { useAnswer } from '../failure/use-answer.ts';
import { hasSessionKey, onSessionKey } from '../providers/page-session.ts';
import { TabClient } from '../providers/tab-client.tsx';
import { useApi, useConnection } from '../providers/workbench-context.tsx';
import { WorkbenchProvider } from '../providers/workbench-provider.tsx';
import { Button } from '../ui/button.tsx';
import { Header } from './header.tsx';
import { LiveRegions } from './live-regions.tsx';
import { Overlays } from './overlays.tsx';

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
