'use client';

import { useLocale, useTranslations } from 'next-intl';
import type { RunUsage } from '#lib/protocol/run';
import { useTokenWords } from './token-words.ts';

/** Digits behind the point: most runs cost less than a cent. */
const COST_DIGITS = 4;

/** What a conversation has used by now: tokens, and what they cost where prices are configured; with its sub-agents, too. */
export function RunUsageLine({ usage }: { usage: RunUsage }) {
  const t = useTranslations('conversation.usage');
  const toWords = useUsageWords();
  const own = toWords(usage);
  const whole = usage.with_children && toWords(usage.with_children);
  if (!own && !whole) return null;
  return (
    <p data-testid="run-usage" className="px-4 text-xs text-muted">
      {[own, whole && t('withChildren', { usage: whole })].filter(Boolean).join(' · ')}
    </p>
  );
}

/** Undefined where the provider counted nothing. */
function useUsageWords(): (usage: RunUsage) => string | undefined {
  const t = useTranslations('conversation.usage');
  const tokenWords = useTokenWords();
  const locale = useLocale();
  return (usage) => {
    const { cost, requests, uncounted_requests: uncounted } = usage;
    if (requests === uncounted) return undefined;
    return [
      t('tokens', { tokens: tokenWords(usage) ?? '' }),
      ...(uncounted > 0 ? [t('uncounted', { count: uncounted })] : []),
      ...(cost ? [t('cost', { amount: money(cost, locale) })] : []),
      ...(cost && cost.unpriced_requests > 0
        ? [t('unpriced', { count: cost.unpriced_requests })]
        : []),
    ].join(' · ');
  };
}

const money = ({ amount, currency }: NonNullable<RunUsage['cost']>, locale: string): string =>
  new Intl.NumberFormat(locale, {
    ...{ style: 'currency', currency, minimumFractionDigits: 2 },
    maximumFractionDigits: COST_DIGITS,
  }).format(amount);
