/** Beside these a turn goes on. */
export const INFORMING_NOTICES = [
  'tools_left_out',
  'tools_unfit',
  'calls_left_out',
  'history_left_out',
  'calls_as_text',
  'images_refused',
  'content_refused',
] as const;

/** Limits that ended a turn; a further message of the person goes on from there. */
export const LIMIT_NOTICES = [
  'step_limit',
  'repeated_calls',
  'tool_timeouts',
  'tool_failures',
  'arguments_cut',
  'budget_seconds',
  'budget_calls',
  'budget_tokens',
  'empty_answers',
] as const;

/** A turn that has one of these ended without a failure. */
export const NOTICES_OF_GOOD_ENDS = [...LIMIT_NOTICES, 'answer_cut', 'answer_filtered'] as const;

/**
 * A turn reports these of itself, in its messages and as its `error`. A page has words for each in each
 * language, with the facts of `params` in them; a later version may add codes.
 */
export const NOTICE_CODES = [
  // At a restart, after which it goes on.
  'restarted',
  ...INFORMING_NOTICES,
  ...NOTICES_OF_GOOD_ENDS,
  // A person wished these.
  'cancelled',
  // A turn that has one of these failed.
  'no_api_key',
  'model_unauthenticated',
  'model_quota',
  'model_rate_limited',
  'model_unreachable',
  'model_unavailable',
  'model_not_found',
  'model_silent',
  'model_no_api',
  'model_unreadable',
  'model_too_long',
  'model_failed',
  'model_refused_request',
  'context_too_long',
  'tools_not_supported',
  'stream_cut',
  'endpoint_silent',
  'endpoint_empty',
  'interrupted',
  'owner_revoked',
  'internal',
  'store_failed',
] as const;

export type NoticeCode = (typeof NOTICE_CODES)[number];
