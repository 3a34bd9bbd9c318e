'use client';

import { useLocale, useTranslations } from 'next-intl';
import { use, useLayoutEffect, useRef } from 'react';
import { useStore } from 'zustand';
import type { Card } from '#lib/protocol/card';
import { useWorkbench } from '../providers/workbench-context.tsx';
import { cardTime } from './card-view.ts';
import { formatTime } from './format-time.ts';
import { TickerContext } from './ticker-context.tsx';

/**
 * The time of a card. Written straight into the element on each tick of the
 * page's one clock: a list of running calls renders nothing while time passes.
 * While the connection is lost it counts on, because the server does, and shows since when
 * there is no news (CD36).
 */
export function CardClock({ card, isStale }: { card: Card; isStale: boolean }) {
  const t = useTranslations('card');
  const locale = useLocale();
  const ticker = use(TickerContext);
  const element = useRef<HTMLSpanElement>(null);
  const lostAt = useStore(useWorkbench().connection, (state) => state.lostAt);
  const isLive = card.status !== 'SUCCESS' && card.status !== 'ERROR';

  useLayoutEffect(() => {
    const since = lostAt === null ? 'none' : formatClock(lostAt, locale);
    const counted = (text: string) => t('time.counted', { text, since });
    const write = (now: number) => {
      const span = element.current;
      if (!span) return;
      const time = cardTime(card, now);
      const { text, isLate } = formatTime(time, t, locale);
      const ticks = isLive && time.kind !== 'none' && time.kind !== 'paused';
      const shown = isStale && ticks ? counted(text) : text;
      if (span.textContent !== shown) span.textContent = shown;
      span.toggleAttribute('data-late', isLate);
    };
    const stop = ticker.subscribe(write);
    if (!isLive) stop();
    return stop;
  }, [card, isLive, isStale, lostAt, locale, t, ticker]);

  return (
    <span
      ref={element}
      className="min-w-0 flex-1 basis-32 text-right text-xs tabular-nums text-muted data-late:font-semibold data-late:text-wait"
      data-testid="card-time"
    />
  );
}

const formatClock = (at: number, locale: string): string =>
  new Intl.DateTimeFormat(locale, { timeStyle: 'short' }).format(at);
