import { useTranslations } from 'next-intl';
import type { BoundArgument, BoundArguments } from '#lib/protocol/always';

/** A person reads the whole of a rule: what it says of arguments, and of how many calls it is for. */
export function useAlwaysWords() {
  const t = useTranslations('card.always');
  const textOf = ({ name, is, starts_with: start, at_most: most }: BoundArgument): string => {
    if (start) return t('startsWith', { name, value: wordsOf(start) });
    return most === undefined
      ? t('is', { name, value: wordsOf(is) })
      : t('atMost', { name, value: String(most) });
  };
  return {
    args: (bound: BoundArguments): string =>
      bound.arguments.length === 0
        ? t('any')
        : t('bound', {
            list: bound.arguments.map(textOf).join(t('and')),
            others: t(`others.${bound.other_arguments}`),
          }),
    uses: (uses: number | null): string => (uses === null ? '' : t('uses', { count: uses })),
  };
}

const wordsOf = (value: unknown): string => JSON.stringify(value) ?? '';
