import { pino } from 'pino';
import { redactShapes } from '#lib/text/redact';

/** The server's log for operators, on standard error. Its functions need no `this`. */
export interface Logger {
  /**
   * An unexpected error as one line of JSON, with its cause and stack; `text` names what failed. `hide`
   * takes out of the line what is secret besides.
   */
  error(cause: unknown, text?: string, hide?: (line: string) => string): void;
  /** One line of plain text. */
  info(line: string): void;
}

export interface ServerLogger extends Logger {
  /** From now on no line has what this takes out of it, in place of tokens alone. */
  hide(secrets: (text: string) => string): void;
}

/**
 * Lines are written before the call returns, so that an exit loses none. No line has what has the
 * form of a token.
 */
export function createLogger(): ServerLogger {
  let clean = redactShapes;
  let cleanMore = (line: string): string => line;
  const log = pino(
    {
      ...{ name: 'callboard', level: 'info', redact: ['headers.*', '*.token'] },
      hooks: { streamWrite: (line) => cleanMore(clean(line)) },
    },
    pino.destination({ dest: 2, sync: true }),
  );
  return {
    error(cause, text = 'unexpected', hide = (line) => line) {
      cleanMore = hide;
      log.error({ err: cause }, text);
      cleanMore = (line) => line;
    },
    info: (line) => void process.stderr.write(`${clean(line)}\n`),
    hide(secrets) {
      clean = secrets;
    },
  };
}
