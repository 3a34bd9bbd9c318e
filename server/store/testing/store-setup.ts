import type { CallEventEntry } from '#lib/call/call-event';
import type { CallRecord } from '#lib/call/call-record';
import { sampleEvent } from '#lib/call/testing/sample-call';
import type { Store } from '../store.ts';

/** What each test of a store's contract begins with. */
export type Setup = () => {
  store: Store;
  reopen(): Promise<Store>;
  failOnRun(runId: string): void;
};

/** The event that led to the call, with its version. */
export const appendCall = (
  call: CallRecord,
  event: CallEventEntry = sampleEvent({ version: call.version }),
) => ({ type: 'append_call', call, event }) as const;
