/**
 * What a turn reports of itself, in its messages and as its `error`. A page has words for each in each
 * language, with the facts of `params` in them; a later version may add codes.
 */
export const NOTICE_CODES = [
  // Beside these a turn goes on.
  'restarted',
  'tools_left_out',
  'calls_left_out',
  // With these it has ended well, or as a person wished.
  'step_limit',
  'answer_cut',
  'answer_filtered',
  'cancelled',
  // With these it has failed.
  'no_api_key',
  'model_unauthenticated',
  'model_quota',
  'model_rate_limited',
  'model_unreachable',
  'model_unavailable',
  'model_not_found',
  'model_silent',
  'model_failed',
  'model_refused_request',
  'context_too_long',
  'stream_cut',
  'endpoint_silent',
  'endpoint_empty',
  'interrupted',
  'owner_revoked',
  'internal',
  'store_failed',
] as const;

export type NoticeCode = (typeof NOTICE_CODES)[number];
