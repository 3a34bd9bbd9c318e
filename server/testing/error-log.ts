import type { Logger } from '../logger.ts';

/** A logger that keeps the errors, and what a line of each would say. */
export function createErrorLog() {
  const errors: unknown[] = [];
  const lines: string[] = [];
  const logger: Logger = {
    error(cause, text = '', hide = (line) => line) {
      errors.push(cause);
      lines.push(hide(`${text}: ${cause}`));
    },
    info: () => {},
  };
  return { logger, errors, lines };
}

/** A logger for what no error is expected of. */
export const throwingLogger: Logger = {
  error(cause) {
    throw cause;
  },
  info: () => {},
};
