'use client';

import { useLocale, useTranslations } from 'next-intl';
import { createContext, use, useLayoutEffect, useRef } from 'react';
import { useStore } from 'zustand';
import { formatCountdown, formatDuration } from '#lib/format/amounts';
import type { Card } from '#lib/protocol/card';
import { useWorkbench } from '../providers/workbench-context.tsx';
import { serverNow } from '../ui/server-clock.ts';
import type { CardTranslator } from './card-translator.ts';
import { type CardTime, cardTime } from './card-view.ts';

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

/** The words of a card's clock, and whether they warn. */
function formatTime(
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

/** The page's one clock. Tests put their own here. */
export const TickerContext = createContext(
  createTicker({
    now: serverNow,
    every: (ms, run) => {
      const timer = setInterval(run, ms);
      return () => clearInterval(timer);
    },
  }),
);

interface TickerDeps {
  /** Milliseconds since the epoch, by the server's clock. */
  readonly now: () => number;
  /** Starts repeating, and gives back how to stop it. */
  readonly every: (ms: number, run: () => void) => () => void;
}

/** One clock for all cards on screen. */
interface Ticker {
  /** Calls back at once and then on every tick. Returns how to stop. */
  subscribe(listener: (now: number) => void): () => void;
}

const TICK_MS = 250;

/**
 * One timer however many cards show a time, none without a listener. The
 * listeners write text by themselves, so that a tick renders nothing.
 */
export function createTicker({ now, every }: TickerDeps): Ticker {
  const listeners = new Set<(now: number) => void>();
  let stop: (() => void) | null = null;
  const tick = () => {
    const at = now();
    for (const listener of listeners) listener(at);
  };
  return {
    subscribe(listener) {
      listeners.add(listener);
      stop ??= every(TICK_MS, tick);
      listener(now());
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        stop?.();
        stop = null;
      };
    },
  };
}
