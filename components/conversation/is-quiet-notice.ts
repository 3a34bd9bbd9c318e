import { INFORMING_NOTICES, LIMIT_NOTICES } from '#lib/protocol/notice-codes';

const QUIET: ReadonlySet<string> = new Set([
  ...['cancelled', 'restarted'],
  ...INFORMING_NOTICES,
  ...LIMIT_NOTICES,
]);

/** Whether a turn says with it what happened without a failure. */
export const isQuietNotice = (code: string): boolean => QUIET.has(code);
