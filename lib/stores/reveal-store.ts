import { createStore, type StoreApi } from 'zustand/vanilla';

/** A wish to see one call's card. `nonce` rises, so that wishing twice scrolls twice. */
export interface RevealState {
  readonly callId: string | null;
  readonly nonce: number;
  reveal(callId: string): void;
}

export type RevealStore = StoreApi<RevealState>;

export const createRevealStore = (): RevealStore =>
  createStore((set) => ({
    callId: null,
    nonce: 0,
    reveal: (callId) => set((state) => ({ callId, nonce: state.nonce + 1 })),
  }));
