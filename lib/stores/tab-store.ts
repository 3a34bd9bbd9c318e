import { createStore, type StoreApi } from 'zustand/vanilla';
import type { AskingClient } from '#lib/protocol/asking-client';

/** This tab as a client: what it offers and how its socket stands. */
export interface TabState {
  /** `registered`: the server has replied to its tools, on this connection. */
  readonly status: 'connecting' | 'registered' | 'disconnected';
  readonly clientId: string | null;
  /** The instance of this tab among those of its browser, which have one client id. */
  readonly instanceId?: string | undefined;
  /** Names of the tools that this browser can serve. */
  readonly tools: readonly string[];
  /** Requests of a person that wait for the registration. */
  readonly waiting: number;
  /** Makes a planned attempt to connect now. */
  retryNow(): void;
}

export type TabStore = StoreApi<TabState>;

/** The longest wait for a registration. An attempt without a welcome ends after 5 s by itself. */
export const REGISTRATION_MS = 10_000;

export const createTabStore = (): TabStore =>
  createStore<TabState>(() => ({
    status: 'connecting',
    clientId: null,
    tools: [],
    waiting: 0,
    retryNow: () => {},
  }));

/**
 * Resolves with this tab as one that asks, or null without a client id, once its tools are registered; at once
 * when it is disconnected and no attempt is due, and after `REGISTRATION_MS` in any case (SR1, SR2).
 */
export async function registeredClient(tab: TabStore): Promise<AskingClient | null> {
  if (tab.getState().status === 'disconnected') tab.getState().retryNow();
  if (tab.getState().status === 'connecting') await untilDecided(tab);
  const { clientId, instanceId } = tab.getState();
  return clientId === null ? null : { clientId, instanceId };
}

function untilDecided(tab: TabStore): Promise<void> {
  const count = (by: number) => tab.setState(({ waiting }) => ({ waiting: waiting + by }));
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      unsubscribe();
      count(-1);
      resolve();
    };
    const timer = setTimeout(end, REGISTRATION_MS);
    count(1);
    const unsubscribe = tab.subscribe(({ status }) => {
      if (status !== 'connecting') end();
    });
  });
}
