'use client';

import dynamic from 'next/dynamic';
import { useTranslations } from 'next-intl';
import type { Theme } from '#lib/i18n/locales';
import { useUi } from '../providers/workbench-context.tsx';
import { Toaster } from '../ui/toast.tsx';
import { useShortcuts } from './use-shortcuts.ts';

const CommandPalette = dynamic(() =>
  import('./command-palette.tsx').then((module) => module.CommandPalette),
);
const ShortcutsSheet = dynamic(() =>
  import('./shortcuts-sheet.tsx').then((module) => module.ShortcutsSheet),
);

/** What lies over the page when asked for; its code is fetched then. */
export function Overlays({ theme }: { theme: Theme }) {
  const t = useTranslations('shell');
  const dialog = useUi((state) => state.dialog);
  useShortcuts();
  return (
    <>
      {dialog === 'palette' && <CommandPalette theme={theme} />}
      {dialog === 'keys' && <ShortcutsSheet />}
      <Toaster label={t('notifications')} />
    </>
  );
}
