import { LIMITS } from './limits.ts';

/** The stream of events that takes the place of a client's socket, and the requests beside it. */
export const STREAM_PATH = '/internal/stream';

/** Of one request that sends messages. */
export const STREAM_LIMITS = {
  messages: 1_000,
  /** As of a frame, and what stands around it. */
  bytes: LIMITS.frameBytes + 1_024,
} as const;
