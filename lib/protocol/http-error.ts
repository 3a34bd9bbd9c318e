import { z } from 'zod';

/** Codes of HTTP errors and their statuses (contract, section 9). */
export const HTTP_ERRORS = {
  bad_request: 400,
  unauthenticated: 401,
  permission_denied: 403,
  origin_not_allowed: 403,
  host_not_allowed: 421,
  not_found: 404,
  tool_not_found: 404,
  call_not_found: 404,
  call_deleted: 404,
  run_not_found: 404,
  blob_not_found: 404,
  method_not_allowed: 405,
  already_final: 409,
  conflict: 409,
  too_large: 413,
  unsupported_media_type: 415,
  invalid_args: 422,
  rate_limited: 429,
  quota_exceeded: 429,
  internal: 500,
  store_damaged: 500,
  no_provider: 503,
  shutting_down: 503,
  store_failed: 503,
} as const;
export type HttpErrorCode = keyof typeof HTTP_ERRORS;

export const httpErrorSchema = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    details: z.array(z.object({ path: z.string(), problem: z.string() })).optional(),
    params: z.record(z.string(), z.string()).optional(),
  }),
});
export type ErrorDetail = { path: string; problem: string };
/** The facts of a message, for pages to put into words. */
export type ErrorParams = Readonly<Record<string, string>>;

/** An expected refusal of a request. `message` states what was wrong and what would be right. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: HttpErrorCode;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly params: ErrorParams | undefined;
  /** Seconds, with `rate_limited` and `quota_exceeded`. */
  readonly retryAfter: number | undefined;
  /** That of the code, unless the contract asks for another in this place. */
  readonly status: number;

  constructor(
    code: HttpErrorCode,
    message: string,
    more: {
      details?: readonly ErrorDetail[];
      params?: ErrorParams;
      retryAfter?: number;
      status?: number;
    } = {},
  ) {
    super(message);
    this.code = code;
    this.details = more.details;
    this.params = more.params;
    this.retryAfter = more.retryAfter;
    this.status = more.status ?? HTTP_ERRORS[code];
  }
}
