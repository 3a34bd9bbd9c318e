import { useLocale, useTranslations } from 'next-intl';
import type { ModelUsage } from '#lib/protocol/model-turn';

/** "1,234 in (1,024 from the cache) and 56 out"; undefined where the provider counted nothing. */
export function useTokenWords(): (usage: ModelUsage) => string | undefined {
  const t = useTranslations('conversation.request');
  const locale = useLocale();
  return ({ input_tokens, output_tokens, cached_tokens, reasoning_tokens }) => {
    const words = [
      ...(input_tokens === null
        ? []
        : [t('tokensIn', { count: input_tokens, cached: cached_tokens ?? 0 })]),
      ...(output_tokens === null
        ? []
        : [t('tokensOut', { count: output_tokens, reasoning: reasoning_tokens ?? 0 })]),
    ];
    return words.length === 0 ? undefined : new Intl.ListFormat(locale).format(words);
  };
}
