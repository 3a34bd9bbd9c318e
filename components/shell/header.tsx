'use client';

import { LogOut } from 'lucide-react';
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
import { HeaderMenu } from './header-menu.tsx';
import { LanguageButton } from './language-button.tsx';
import { Logo } from './logo.tsx';
import { ModelSelect } from './model-select.tsx';
import { NavLinks } from './nav-links.tsx';
import { ThemeButton } from './theme-button.tsx';
import { useIsMac } from './use-is-mac.ts';
import { useSignOut } from './use-sign-out.ts';
import { Who } from './who.tsx';

/** Product, pages, how we are connected, and what one changes about the screen. */
export function Header({ theme }: { theme: Theme }) {
  const t = useTranslations('shell');
  return (
    <header className="flex min-h-12 shrink-0 items-center gap-3 border-b border-line px-4 py-1.5">
      <Link href="/" className="flex items-center gap-2 font-bold">
        <Logo />
        {t('product')}
      </Link>
      <div className="hidden lg:block">
        <NavLinks />
      </div>
      <div className="flex min-w-0 flex-1 justify-end">
        <ConnectionState />
      </div>
      <AutonomyBadge />
      <ApprovalsLink />
      <WideControls theme={theme} />
      <div className="lg:hidden">
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
    <div className="hidden items-center gap-1 lg:flex">
      <ModelSelect className="mr-1 w-32 xl:w-40 2xl:w-52" />
      <Button variant="ghost" onClick={() => open('palette')} aria-keyshortcuts="Meta+K Control+K">
        {t('palette.open')}{' '}
        <span className="hidden 2xl:inline">
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
