import type { useTranslations } from 'next-intl';

type Translator = ReturnType<typeof useTranslations<'tools'>>;

const LABELS = new Map<string, 'sourceServer' | 'sourceClient'>([
  ['server', 'sourceServer'],
  ['client', 'sourceClient'],
]);

/** Whose tool it is, in words; a kind of provider that this page has no word for by its name. */
export function sourceLabel(source: string, t: Translator): string {
  const label = LABELS.get(source);
  return label ? t(label) : t('sourceOther', { source });
}
