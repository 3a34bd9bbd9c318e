'use client';

import { createContext } from 'react';
import { serverNow } from '../ui/server-clock.ts';
import { createTicker } from './ticker.ts';

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
