/** How a client stands with its server. */
export type ClientStatus =
  | { readonly state: 'stopped' }
  | { readonly state: 'connecting' }
  | { readonly state: 'connected' }
  /** `retryAt` in milliseconds since the epoch; `attempt` counts from 1. */
  | { readonly state: 'reconnecting'; readonly attempt: number; readonly retryAt: number }
  /** The credential is not good: only a new one helps, so nothing is tried again. */
  | { readonly state: 'refused'; readonly code: number; readonly reason: string };
