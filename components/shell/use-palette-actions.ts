'use client';

import { useRouter } from 'next/navigation';
import { useTranslations } from 'next-intl';
import type { Theme } from '#lib/i18n/locales';
import { useIsViewer, useUi } from '../providers/workbench-context.tsx';
import { useOtherLanguage } from './use-language.ts';
import { useSignOut } from './use-sign-out.ts';
import { useTheme } from './use-theme.ts';

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
