import type { CallStatus } from './call-status.ts';

/** True when a call has ended. The file has no schemas, so that pages need not load them. */
export const isFinalStatus = (status: CallStatus): boolean =>
  status !== 'PENDING' && status !== 'RUNNING';
