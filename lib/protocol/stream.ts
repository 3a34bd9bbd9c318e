import { LIMITS } from './limits.ts';

/** The stream of events that takes the place of a client's socket, and the requests beside it. */
export const STREAM_PATH = '/internal/stream';

/** One request that sends messages has so many. */
export const STREAM_LIMITS = {
  messages: 1_000,
  /** It is as large as a frame, and what stands around it. */
  bytes: LIMITS.frameBytes + 1_024,
} as const;
