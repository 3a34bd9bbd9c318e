/** Sizes in bytes unless named otherwise, times in milliseconds. Sent to clients in `welcome.limits`. */
export const LIMITS = {
  frameBytes: 16 * 1024 * 1024,
  /** Depth and node count of any JSON text, checked before it is parsed. */
  jsonDepth: 64,
  jsonNodes: 200_000,
  toolsPerClient: 256,
  toolsPerMessage: 1_024,
  /** Names, descriptions and schemas of one client's tools together, as JSON. */
  toolBytesPerClient: 16 * 1024 * 1024,
  /** So many refused tools of one registration are answered by a line of their own. */
  rejectedPerMessage: 64,
  descriptionChars: 4_096,
  schemaBytes: 64 * 1024,
  argsBytes: 256 * 1024,
  /** In a hello. */
  knownCalls: 10_000,
  resultBytes: 8 * 1024 * 1024,
  attachmentBytes: 10 * 1024 * 1024,
  attachmentsPerResult: 8,
  statusBytes: 64 * 1024,
  httpBodyBytes: 1024 * 1024,
  blobBytes: 16 * 1024 * 1024,
  waitMs: 30_000,
  minTimeoutMs: 100,
  maxTimeoutMs: 10 * 60_000,
  idempotencyKeyChars: 255,
} as const;

/** The clocks of a call (contract, section 2). All run on the server. */
export const CLOCKS = {
  approvalMs: 10 * 60_000,
  queueMs: 30_000,
  startMs: 5_000,
  executeMs: 30_000,
  /** How long a cancelled client may still answer before the call ends without it. */
  cancelMs: 5_000,
  resumeMs: 120_000,
} as const;

/** A rule of "always" that is bound to arguments has so many of them at most. */
export const BOUND_LIMITS = { arguments: 16, nameChars: 200, startItems: 100 } as const;
