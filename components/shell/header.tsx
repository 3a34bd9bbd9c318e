'use client';

import {
  Command,
  LogOut,
  Menu as MenuIcon,
  Monitor,
  Moon,
  ShieldAlert,
  ShieldCheck,
  Smartphone,
  Sun,
} from 'lucide-react';
import Link from 'next/link';
import { usePathname, useRouter } from 'next/navigation';
import { useLocale, useTranslations } from 'next-intl';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import type { Theme } from '#lib/i18n/locales';
import { questionsOf } from '#lib/stores/listings-store';
import {
  useAnnounce,
  useApprovals,
  useApprovalsLeftOut,
  useAutonomyLevel,
  useDevicesWaiting,
  useUi,
} from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { Kbd } from '../ui/kbd.tsx';
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../ui/menu.tsx';
import { Tooltip } from '../ui/tooltip.tsx';
import { ConnectionState } from './connection-state.tsx';
import { Logo } from './logo.tsx';
import { ModelSelect } from './model-select.tsx';
import { isAt, PAGES } from './pages.ts';
import { useOtherLanguage } from './use-language.ts';
import { useSignOut } from './use-sign-out.ts';
import { useTheme } from './use-theme.ts';
import { useWho, Who } from './who.tsx';

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

/** How many questions wait for a person, on every page; nothing while none does. */
export function ApprovalsLink() {
  const t = useTranslations('shell');
  const count = questionsOf(useApprovals()).length + useApprovalsLeftOut();
  if (count === 0) return null;
  return (
    <Link
      href="/approvals"
      data-testid="approvals"
      className="btn btn-sm shrink-0 bg-waitbg text-wait tabular-nums"
    >
      <span className="max-[1799px]:sr-only">{t('approvals', { count })}</span>
      <span aria-hidden className="min-[1800px]:hidden">
        {count}
      </span>
    </Link>
  );
}

/** On every page, where agents do more or less than usual without a person (AN2). */
export function AutonomyBadge() {
  const t = useTranslations('shell.autonomy');
  const level = useAutonomyLevel();
  if (level !== 'full' && level !== 'read_only') return null;
  const Icon = level === 'full' ? ShieldAlert : ShieldCheck;
  return (
    <Tooltip text={t(`is.${level}`)}>
      <Link
        href="/settings/policy"
        data-testid="autonomy-badge"
        data-level={level}
        className={`btn btn-sm shrink-0 ${level === 'full' ? 'border-error text-error' : 'bg-waitbg text-wait'}`}
      >
        <Icon aria-hidden className="size-4 shrink-0" />
        <span className="sr-only">{t(`is.${level}`)}</span>
        <span aria-hidden className="max-[480px]:hidden">
          {t(`short.${level}`)}
        </span>
      </Link>
    </Tooltip>
  );
}

/** What of pairing waits for a person, on every page; nothing while nothing does. */
function DevicesLink() {
  const t = useTranslations('devices');
  const announce = useAnnounce();
  const { asking, waiting } = useDevicesWaiting();
  const none = asking + waiting === 0;
  const text = none ? '' : t('badge', { asking, waiting, both: String(asking > 0 && waiting > 0) });
  const before = useRef(0);
  useEffect(() => {
    // That fewer wait is no news: a person has just decided.
    if (asking + waiting > before.current) announce(text);
    before.current = asking + waiting;
  }, [asking, waiting, text, announce]);
  if (none) return null;
  return (
    <Link
      href="/devices"
      data-testid="devices-waiting"
      title={text}
      className="btn btn-sm shrink-0 bg-waitbg text-wait tabular-nums"
    >
      <Smartphone aria-hidden className="size-4" />
      <span className="sr-only">{text}</span>
      <span aria-hidden>{asking + waiting}</span>
    </Link>
  );
}

/** Named in the language that it leads to, for those who cannot read this one. */
function LanguageButton() {
  const t = useTranslations('shell.language');
  const goes = useLocale().startsWith('zh') ? 'en' : 'zh-CN';
  return (
    <Button variant="ghost" lang={goes} aria-label={t('label')} onClick={useOtherLanguage()}>
      {t('switch')}
    </Button>
  );
}

const ICONS = { system: Monitor, light: Sun, dark: Moon };

function ThemeButton({ initial }: { initial: Theme }) {
  const t = useTranslations('shell.theme');
  const { theme, next } = useTheme(initial);
  const Icon = ICONS[theme];
  return (
    <IconButton label={t('label', { theme: t(theme) })} onClick={next}>
      <Icon aria-hidden className="size-4" />
    </IconButton>
  );
}

/** The pages, side by side. */
function NavLinks() {
  const t = useTranslations('shell.nav');
  const pathname = usePathname();
  return (
    <nav aria-label={t('label')} className="flex items-center gap-1">
      {PAGES.map(({ href, name }) => (
        <Link
          key={href}
          href={href}
          aria-current={isAt(href, pathname) ? 'page' : undefined}
          className="border-b-2 border-transparent px-1 py-1 2xl:px-1.5 hover:border-line aria-[current]:border-fg aria-[current]:font-semibold"
        >
          {t(name)}
        </Link>
      ))}
    </nav>
  );
}

const never = () => () => {};

/** Whether keys are called as on a Mac; false while the server draws. */
const useIsMac = (): boolean =>
  useSyncExternalStore(
    never,
    () => /Mac|iPhone|iPad/.test(navigator.userAgent),
    () => false,
  );

/** Everything of the header that a narrow screen has no room for. */
function HeaderMenu({ theme: initial }: { theme: Theme }) {
  const t = useTranslations('shell');
  const router = useRouter();
  const open = useUi((state) => state.open);
  const { theme, next } = useTheme(initial);
  const otherLanguage = useOtherLanguage();
  const signOut = useSignOut();
  const who = useWho();
  return (
    <Menu
      label={t('nav.more')}
      trigger={
        <Button variant="ghost" className="btn-icon" aria-label={t('nav.more')}>
          <MenuIcon aria-hidden className="size-5" />
        </Button>
      }
    >
      {PAGES.map(({ href, name }) => (
        <MenuItem key={href} onSelect={() => router.push(href)}>
          {t(`nav.${name}`)}
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem onSelect={() => open('palette')}>{t('palette.open')}</MenuItem>
      <MenuItem onSelect={next}>{t('theme.label', { theme: t(`theme.${theme}`) })}</MenuItem>
      <MenuItem onSelect={otherLanguage}>{t('language.switch')}</MenuItem>
      <MenuSeparator />
      {who && <MenuLabel>{who.text}</MenuLabel>}
      <MenuItem onSelect={() => void signOut()}>{t('signOut')}</MenuItem>
    </Menu>
  );
}
