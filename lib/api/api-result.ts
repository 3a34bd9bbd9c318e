import type { ErrorDetail, ErrorParams } from '../protocol/http-error.ts';

/** A refused or failed request, as a value. `status` 0: the server could not be reached. */
export interface ApiFailure {
  readonly ok: false;
  readonly code: string;
  readonly message: string;
  readonly details: readonly ErrorDetail[];
  /** The facts of the message, where the server gives them. */
  readonly params?: ErrorParams;
  readonly status: number;
  /** Seconds, with `rate_limited`. */
  readonly retryAfter: number | null;
}

export type ApiResult<T> = { readonly ok: true; readonly value: T } | ApiFailure;
