'use client';

import { Menu as MenuIcon } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useTranslations } from 'next-intl';
import type { Theme } from '#lib/i18n/locales';
import { useUi } from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../ui/menu.tsx';
import { PAGES } from './pages.ts';
import { useOtherLanguage } from './use-language.ts';
import { useSignOut } from './use-sign-out.ts';
import { useTheme } from './use-theme.ts';
import { useWho } from './who.tsx';

/** Everything of the header that a narrow screen has no room for. */
export function HeaderMenu({ theme: initial }: { theme: Theme }) {
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
