import { type Call, isPolling } from './call.ts';

/** Running the tool again does no harm. */
export const isRerunnable = ({ annotations }: Pick<Call, 'annotations'>): boolean =>
  annotations.readOnlyHint === true || annotations.idempotentHint === true;

/**
 * True when its client, once back, can prove what became of it. One without a
 * journal cannot, once the call is its own: its first answer counts until the
 * clock runs out.
 */
export const hasJournal = ({ provider, granted }: Pick<Call, 'provider' | 'granted'>) =>
  !provider || (provider.claims && !(granted && isPolling(provider)));
