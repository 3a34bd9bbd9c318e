import { formatCountdown, formatDuration } from '#lib/format/format-duration';
import type { CardTranslator } from './card-translator.ts';
import type { CardTime } from './card-view.ts';

/** The words of a card's clock, and whether they warn. */
export function formatTime(
  time: CardTime,
  t: CardTranslator,
  locale: string,
): { text: string; isLate: boolean } {
  const span = (ms: number) => formatDuration(ms, locale);
  // A running clock in milliseconds would only flicker.
  const running = (ms: number) => formatDuration(ms, locale, { fromSeconds: true });
  const limit = (ms: number) => formatDuration(ms, locale, { whole: true });
  switch (time.kind) {
    case 'none':
      return { text: '', isLate: false };
    case 'elapsed':
      return { text: running(time.elapsedMs), isLate: false };
    case 'ran':
    case 'waited':
      return { text: t(`time.${time.kind}`, { time: span(time.elapsedMs) }), isLate: false };
    case 'left': {
      const values = { time: formatCountdown(time.leftMs) };
      return { text: t(`time.left.${time.clock}`, values), isLate: false };
    }
    case 'paused': {
      const values = { elapsed: running(time.elapsedMs), limit: limit(time.limitMs) };
      return { text: t('time.clockPaused', values), isLate: false };
    }
    case 'running': {
      const values = { elapsed: running(time.elapsedMs), limit: limit(time.limitMs) };
      const text = t('time.running', values);
      if (!time.isLate) return { text, isLate: false };
      const seconds = Math.ceil(time.leftMs / 1_000);
      return { text: `${text} · ${t('time.late', { seconds })}`, isLate: true };
    }
  }
}
