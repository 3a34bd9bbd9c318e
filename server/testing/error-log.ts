import type { Logger } from '../base/logger.ts';

/** A logger that keeps the errors, what a line of each would say, and the lines of plain text. */
export function createErrorLog() {
  const errors: unknown[] = [];
  const lines: string[] = [];
  const infos: string[] = [];
  const logger: Logger = {
    error(cause, text = '', hide = (line) => line) {
      errors.push(cause);
      lines.push(hide(`${text}: ${cause}`));
    },
    info: (line) => void infos.push(line),
  };
  return { logger, errors, lines, infos };
}

/** A logger for what no error is expected of. */
export const throwingLogger: Logger = {
  error(cause) {
    throw cause;
  },
  info: () => {},
};
