import type { useTranslations } from 'next-intl';

/** Words of the area `card`. */
export type CardTranslator = ReturnType<typeof useTranslations<'card'>>;
