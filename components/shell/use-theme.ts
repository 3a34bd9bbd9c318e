'use client';

import { THEME_COOKIE, THEMES, type Theme } from '#lib/i18n/locales';
import { savePreference } from '../providers/preference-cookie.ts';
import { useUi } from '../providers/workbench-context.tsx';

/** The theme, and a way to the next one. `initial` is what the server drew the page in. */
export function useTheme(initial: Theme): { theme: Theme; next: () => void } {
  const theme = useUi((state) => state.theme) ?? initial;
  const setTheme = useUi((state) => state.setTheme);
  const next = () => {
    const chosen = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
    document.documentElement.dataset.theme = chosen;
    savePreference(document, THEME_COOKIE, chosen);
    setTheme(chosen);
  };
  return { theme, next };
}
