import { createStore, type StoreApi } from 'zustand/vanilla';

/** This tab as a client: what it offers and how its socket stands. */
export interface TabState {
  readonly status: 'starting' | 'connected' | 'disconnected';
  readonly clientId: string | null;
  /** Names of the tools that this browser can serve. */
  readonly tools: readonly string[];
}

export type TabStore = StoreApi<TabState>;

export const createTabStore = (): TabStore =>
  createStore<TabState>(() => ({ status: 'starting', clientId: null, tools: [] }));
