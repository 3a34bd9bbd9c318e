import { createStore, type StoreApi } from 'zustand/vanilla';
import type { WireMe } from '../protocol/token.ts';

/** The person who is signed in; null until the server has answered. */
export interface MeState {
  readonly me: WireMe | null;
}

export type MeStore = StoreApi<MeState>;

export const createMeStore = (): MeStore => createStore<MeState>(() => ({ me: null }));
