import { pino } from 'pino';

/** The server's log for operators, on standard error. Its functions need no `this`. */
export interface Logger {
  /** An unexpected error as one line of JSON, with its cause and stack; `text` names what failed. */
  error(cause: unknown, text?: string): void;
  /** One line of plain text. */
  info(line: string): void;
}

/** Lines are written before the call returns, so that an exit loses none. */
export function createLogger(): Logger {
  const log = pino(
    { name: 'callboard', level: 'info', redact: ['headers.*', '*.token'] },
    pino.destination({ dest: 2, sync: true }),
  );
  return {
    error: (cause, text = 'unexpected') => log.error({ err: cause }, text),
    info: (line) => void process.stderr.write(`${line}\n`),
  };
}
