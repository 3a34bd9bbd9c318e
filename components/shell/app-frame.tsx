'use client';

import { usePathname } from 'next/navigation';
import { NuqsAdapter } from 'nuqs/adapters/next/app';
import type { ReactNode } from 'react';
import type { Theme } from '#lib/i18n/locales';
import { TabClient } from '../providers/tab-client.tsx';
import { WorkbenchProvider } from '../providers/workbench-provider.tsx';
import { Header } from './header.tsx';
import { InsecureBanner } from './insecure-banner.tsx';
import { LiveRegions } from './live-regions.tsx';
import { Overlays } from './overlays.tsx';
import { SignedOut } from './signed-out.tsx';
import { SkipLink } from './skip-link.tsx';

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
    <NuqsAdapter>
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
    </NuqsAdapter>
  );
}
