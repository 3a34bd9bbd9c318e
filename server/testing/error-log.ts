import type { Logger } from '../logger.ts';

/** A logger that keeps the errors. */
export function createErrorLog() {
  const errors: unknown[] = [];
  const logger: Logger = { error: (cause) => void errors.push(cause), info: () => {} };
  return { logger, errors };
}
