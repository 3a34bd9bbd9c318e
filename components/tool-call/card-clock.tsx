'use client';

import { useLocale, useTranslations } from 'next-intl';
import { use, useLayoutEffect, useRef } from 'react';
import type { Card } from '#lib/protocol/card';
import { cardTime } from './card-view.ts';
import { formatTime } from './format-time.ts';
import { TickerContext } from './ticker-context.tsx';

/**
 * The time of a card. Written straight into the element on each tick of the
 * page's one clock: a list of running calls renders nothing while time passes.
 * While the connection is lost the time is unknown, so it stops.
 */
export function CardClock({ card, isStale }: { card: Card; isStale: boolean }) {
  const t = useTranslations('card');
  const locale = useLocale();
  const ticker = use(TickerContext);
  const element = useRef<HTMLSpanElement>(null);
  const isLive = card.status !== 'SUCCESS' && card.status !== 'ERROR';

  useLayoutEffect(() => {
    const write = (now: number) => {
      const span = element.current;
      if (!span) return;
      const time = cardTime(card, now);
      const { text, isLate } = formatTime(time, t, locale);
      const ticks = isLive && time.kind !== 'none' && time.kind !== 'paused';
      const shown = isStale && ticks ? t('time.paused', { text }) : text;
      if (span.textContent !== shown) span.textContent = shown;
      span.toggleAttribute('data-late', isLate);
    };
    const stop = ticker.subscribe(write);
    if (!isLive || isStale) stop();
    return stop;
  }, [card, isLive, isStale, locale, t, ticker]);

  return (
    <span
      ref={element}
      className="ml-auto text-xs tabular-nums text-muted data-late:font-semibold data-late:text-wait"
      data-testid="card-time"
    />
  );
}
