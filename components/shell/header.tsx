'use client';

import { Command, LogOut } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import type { Theme } from '#lib/i18n/locales';
import { useUi } from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { Kbd } from '../ui/kbd.tsx';
import { ApprovalsLink } from './approvals-link.tsx';
import { AutonomyBadge } from './autonomy-badge.tsx';
import { ConnectionState } from './connection-state.tsx';
import { DevicesLink } from './devices-link.tsx';
import { HeaderMenu } from './header-menu.tsx';
import { LanguageButton } from './language-button.tsx';
import { Logo } from './logo.tsx';
import { ModelSelect } from './model-select.tsx';
import { NavLinks } from './nav-links.tsx';
import { ThemeButton } from './theme-button.tsx';
import { useIsMac } from './use-is-mac.ts';
import { useSignOut } from './use-sign-out.ts';
import { Who } from './who.tsx';

/**
 * Product, pages, how we are connected, and what one changes about the screen. Where it is narrow the
 * other parts give way to the state of the connection (SH1): controls go into the menu, then the pages.
 */
export function Header({ theme }: { theme: Theme }) {
  const t = useTranslations('shell');
  return (
    <header className="flex min-h-12 shrink-0 items-center gap-2 border-b border-line px-4 py-1.5 2xl:gap-3">
      <Link href="/" className="flex items-center gap-2 font-bold">
        <Logo />
        <span className="max-sm:sr-only lg:max-[1439px]:sr-only">{t('product')}</span>
      </Link>
      <div className="hidden lg:block">
        <NavLinks />
      </div>
      <div className="flex min-w-0 flex-1 justify-end">
        <ConnectionState />
      </div>
      <AutonomyBadge />
      <DevicesLink />
      <ApprovalsLink />
      <WideControls theme={theme} />
      <div className="xl:hidden">
        <HeaderMenu theme={theme} />
      </div>
    </header>
  );
}

function WideControls({ theme }: { theme: Theme }) {
  const t = useTranslations('shell');
  const open = useUi((state) => state.open);
  const signOut = useSignOut();
  const isMac = useIsMac();
  return (
    <div className="hidden items-center gap-1 xl:flex">
      <ModelSelect className="flex w-40 2xl:mr-1 2xl:w-52" />
      <Button variant="ghost" onClick={() => open('palette')} aria-keyshortcuts="Meta+K Control+K">
        <Command aria-hidden className="size-4 2xl:hidden" />
        <span className="max-2xl:sr-only">{t('palette.open')}</span>{' '}
        <span className="hidden min-[1800px]:inline">
          <Kbd>{isMac ? '⌘K' : 'Ctrl K'}</Kbd>
        </span>
      </Button>
      <ThemeButton initial={theme} />
      <LanguageButton />
      <Who />
      <IconButton label={t('signOut')} onClick={signOut}>
        <LogOut aria-hidden className="size-4" />
      </IconButton>
    </div>
  );
}
