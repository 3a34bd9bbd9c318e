const MIN_CHARS = 16;
const MAX_CHARS = 256;

/**
 * An operator's token may have these: the signs of a `b64token` (RFC 6750, section
 * 2.1), which a header carries as they are and which base64 and base64url give.
 * A shorter one could be guessed; the token opens everything.
 */
const TOKEN = new RegExp(`^[A-Za-z0-9_.~+/=-]{${MIN_CHARS},${MAX_CHARS}}$`);

/** Undefined when `token` may be one; else what it may be. */
export const tokenProblem = (token: string): string | undefined =>
  TOKEN.test(token)
    ? undefined
    : `it must be ${MIN_CHARS} to ${MAX_CHARS} letters, digits and the signs _.~+/=-`;
