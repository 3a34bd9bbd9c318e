import type { CallRecord } from '#lib/call/call-record';
import type { Change, Store } from '../store.ts';

/** What each test of a store's contract begins with. */
export type Setup = () => {
  store: Store;
  reopen(): Promise<Store>;
  failOnRun(runId: string): void;
};

export const putCall = (call: CallRecord): Change => ({ type: 'put_call', call });
