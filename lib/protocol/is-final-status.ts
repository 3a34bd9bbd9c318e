import type { CallStatus } from './call-status.ts';

/** Whether a call has ended. In a file without schemas, so that pages need not load them. */
export const isFinalStatus = (status: CallStatus): boolean =>
  status !== 'PENDING' && status !== 'RUNNING';
