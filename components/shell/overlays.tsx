'use client';

import { useRouter } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { type ReactNode, useEffect } from 'react';
import { tinykeys } from 'tinykeys';
import type { Theme } from '#lib/i18n/locales';
import { useUi, useWorkbench } from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { late } from '../ui/late.tsx';
import { Toaster } from '../ui/toaster.tsx';
import { isTyping } from './is-typing.ts';
import { PAGES } from './pages.ts';
import { isAfterTyping, watchTakenFields } from './taken-field.ts';
import { singleKeysOn } from './use-single-keys.ts';

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
