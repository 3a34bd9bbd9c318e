'use client';

import { createContext, use } from 'react';

export interface FeedControl {
  /** Tries to connect at once instead of at the end of the wait. */
  retryNow(): void;
}

export const FeedContext = createContext<FeedControl>({ retryNow: () => {} });

export const useFeedControl = (): FeedControl => use(FeedContext);
