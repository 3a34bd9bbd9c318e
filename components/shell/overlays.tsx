'use client';

import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import type { Theme } from '#lib/i18n/locales';
import { useUi } from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { late } from '../ui/late.tsx';
import { Toaster } from '../ui/toaster.tsx';
import { useShortcuts } from './use-shortcuts.ts';

const inMiddle = { frame: (words: ReactNode) => <Middle>{words}</Middle> };

const CommandPalette = late<{ theme: Theme }>(
  () => import('./command-palette.tsx').then((module) => module.CommandPalette),
  inMiddle,
);
const ShortcutsSheet = late<object>(
  () => import('./shortcuts-sheet.tsx').then((module) => module.ShortcutsSheet),
  inMiddle,
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
      <Toaster label={t('notifications')} closeLabel={t('close')} />
    </>
  );
}

/** Where the dialog will be. */
function Middle({ children }: { children: ReactNode }) {
  const t = useTranslations('shell');
  const open = useUi((state) => state.open);
  return (
    <div className="popup fixed left-1/2 top-1/3 z-50 flex -translate-x-1/2 items-center gap-3 p-4">
      {children}
      <Button size="sm" onClick={() => open(null)}>
        {t('close')}
      </Button>
    </div>
  );
}
