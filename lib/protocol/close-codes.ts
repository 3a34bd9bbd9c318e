/** Close codes of both sockets, beside those of RFC 6455. In a file of its own, so that pages need no schemas for it. */
export const CLOSE = {
  policy: 1008,
  tooLarge: 1009,
  restarting: 1012,
  unauthenticated: 4401,
  /** A person took it off; its program does not come back by itself. */
  disconnected: 4403,
  superseded: 4010,
  slow: 4013,
} as const;
