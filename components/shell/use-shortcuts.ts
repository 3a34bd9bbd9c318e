'use client';

import { useRouter } from 'next/navigation';
import { useEffect } from 'react';
import { tinykeys } from 'tinykeys';
import { useWorkbench } from '../providers/workbench-context.tsx';
import { isTyping } from './is-typing.ts';
import { PAGES } from './pages.ts';
import { isAfterTyping, watchTakenFields } from './taken-field.ts';
import { singleKeysOn } from './use-single-keys.ts';

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
