import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Theme } from '../i18n/locales.ts';

export type Panel = 'chat' | 'live';

/** This tab shows these; the server knows nothing of them. */
export interface UiState {
  /** The part that a narrow screen shows. */
  readonly panel: Panel;
  readonly dialog: 'palette' | 'keys' | null;
  /** Null until it was changed in this page; the page was drawn in the remembered one. */
  readonly theme: Theme | null;
  /** Rises when the message field should be focused. */
  readonly focusMessage: number;
  /** The request puts this into the field; mostly nothing. */
  readonly messageText: string;
  /** The polite live region says this; `at` tells two equal texts apart. */
  readonly announcement: { readonly text: string; readonly at: number };
  /** This tab's tools are offered to the agent of its browser. */
  readonly webMcp: boolean;
  show(panel: Panel): void;
  setWebMcp(on: boolean): void;
  open(dialog: UiState['dialog']): void;
  setTheme(theme: Theme): void;
  /** A text is put into the field, behind what is there. */
  wantMessage(text?: string): void;
  announce(text: string): void;
}

export type UiStore = StoreApi<UiState>;

export const createUiStore = (): UiStore =>
  createStore((set) => ({
    panel: 'chat',
    dialog: null,
    theme: null,
    focusMessage: 0,
    messageText: '',
    announcement: { text: '', at: 0 },
    webMcp: false,
    show: (panel) => set({ panel }),
    setWebMcp: (webMcp) => set({ webMcp }),
    open: (dialog) => set({ dialog }),
    setTheme: (theme) => set({ theme }),
    wantMessage: (messageText = '') =>
      set(({ focusMessage }) => ({ panel: 'chat', focusMessage: focusMessage + 1, messageText })),
    announce: (text) => set((state) => ({ announcement: { text, at: state.announcement.at + 1 } })),
  }));

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
