'use client';

import { Monitor, Moon, Sun } from 'lucide-react';
import { useTranslations } from 'next-intl';
import type { Theme } from '#lib/i18n/locales';
import { IconButton } from '../ui/icon-button.tsx';
import { useTheme } from './use-theme.ts';

const ICONS = { system: Monitor, light: Sun, dark: Moon };

export function ThemeButton({ initial }: { initial: Theme }) {
  const t = useTranslations('shell.theme');
  const { theme, next } = useTheme(initial);
  const Icon = ICONS[theme];
  return (
    <IconButton label={t('label', { theme: t(theme) })} onClick={next}>
      <Icon aria-hidden className="size-4" />
    </IconButton>
  );
}
