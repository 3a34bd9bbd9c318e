import type { Logger } from '../logger.ts';

/** A logger that keeps the errors. */
export function createErrorLog() {
  const errors: unknown[] = [];
  const logger: Logger = { error: (cause) => void errors.push(cause), info: () => {} };
  return { logger, errors };
}

/** A logger for what no error is expected of. */
export const throwingLogger: Logger = {
  error(cause) {
    throw cause;
  },
  info: () => {},
};
