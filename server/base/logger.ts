import { pino } from 'pino';
import { redactShapes } from '#lib/text/redact';

/** A line is about these, such as `tool_call_id` and `run_id`. */
export type LogFields = Readonly<Record<string, string | number | null | undefined>>;

/** The server's log for operators, on standard error. Its functions need no `this`. */
export interface Logger {
  /**
   * An unexpected error as one line of JSON, with its cause and stack; `text` names what failed, and
   * without it and fields an error is written once. `hide` takes out of the line what is secret besides.
   */
  error(cause: unknown, text?: string, hide?: (line: string) => string, fields?: LogFields): void;
  /** One line of plain text. */
  info(line: string, fields?: LogFields): void;
}

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export const LOG_FORMATS = ['text', 'json'] as const;

export interface LogSettings {
  /** Lines below it are not written. */
  readonly level: (typeof LOG_LEVELS)[number];
  readonly format: (typeof LOG_FORMATS)[number];
}

export interface ServerLogger extends Logger {
  /** Why the server ends, or cannot do what it is for: written at every level. */
  failure(line: string): void;
  warn(line: string, fields?: LogFields): void;
  /** For who looks for a fault. */
  debug(line: string, fields?: LogFields): void;
  /** Such lines are written: they need not be made else. */
  readonly isDebug: boolean;
  /** From now on no line has what this takes out of it, in place of tokens alone. */
  hide(secrets: (text: string) => string): void;
  /** From now on. */
  set(settings: LogSettings): void;
}

/**
 * Lines are written before the call returns, so that an exit loses none. No line has what has the
 * form of a token.
 */
export function createLogger(): ServerLogger {
  let clean = redactShapes;
  let cleanMore = (line: string): string => line;
  let isJson = false;
  /** All whose writes fail with the store, thousands of calls, hear of the same error. */
  const written = new WeakSet<Error>();
  const log = pino(
    {
      name: 'callboard',
      level: 'info',
      redact: ['headers.*', '*.token'],
      hooks: { streamWrite: (line) => cleanMore(clean(line)) },
    },
    pino.destination({ dest: 2, sync: true }),
  );
  const write = (level: LogSettings['level'], line: string, fields: LogFields = {}) => {
    if (!log.isLevelEnabled(level)) return;
    if (isJson) log[level](fields, line);
    else process.stderr.write(`${clean(line + fieldsText(fields))}\n`);
  };
  return {
    error(cause, text, hide = (line) => line, fields) {
      if (cause instanceof Error && !text && !fields) {
        if (written.has(cause)) return;
        written.add(cause);
      }
      cleanMore = hide;
      log.error({ err: cause, ...fields }, text ?? 'unexpected');
      cleanMore = (line) => line;
    },
    failure: (line) => write('error', line),
    warn: (line, fields) => write('warn', line, fields),
    info: (line, fields) => write('info', line, fields),
    debug: (line, fields) => write('debug', line, fields),
    get isDebug() {
      return log.isLevelEnabled('debug');
    },
    hide(secrets) {
      clean = secrets;
    },
    set({ level, format }) {
      log.level = level;
      isJson = format === 'json';
    },
  };
}

const PLAIN = /^[\w.:@/-]+$/;

/** ` name=value` of each; a value that is not one word stands in quotes: models and clients choose names. */
const fieldsText = (fields: LogFields): string =>
  Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => ` ${name}=${wordOf(String(value))}`)
    .join('');

const wordOf = (text: string): string => (PLAIN.test(text) ? text : JSON.stringify(text));
