/** Says what the exit code of each command means; `docs/cli.md` has the same table. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: 'done' },
  failed: { code: 1, meaning: 'failed; the reason is on stderr' },
  usage: {
    code: 2,
    meaning: 'the command line, or what it gave the server, is wrong (HTTP 400 and 422 too)',
  },
  unreachable: { code: 3, meaning: 'no server runs there, or it cannot be reached or trusted' },
  refused: { code: 4, meaning: 'the server refused the token or its rights (HTTP 401 and 403)' },
  notFound: { code: 5, meaning: 'there is no such tool, call, run, device, pairing or file' },
  callError: { code: 6, meaning: 'the call ended with the card ERROR' },
  waiting: { code: 7, meaning: 'the time was over first: a call or a pairing still waits' },
  storeFailed: { code: 74, meaning: 'the disk cannot be written' },
  inUse: { code: 75, meaning: 'a server has the data directory' },
  storeDamaged: { code: 78, meaning: 'the store is damaged' },
  interrupted: { code: 130, meaning: 'ended by Ctrl+C' },
} as const;
export type ExitName = keyof typeof EXIT_CODES;

/** It ends a command with one line of what was wrong and what would be right. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exit: ExitName;
  /** A code of the server, where it refused. */
  readonly code: string | undefined;

  constructor(exit: ExitName, message: string, code?: string) {
    super(message);
    this.exit = exit;
    this.code = code;
  }
}
