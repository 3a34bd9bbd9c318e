/** A file or folder is not there (ENOENT), and nothing else went wrong. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** For a promise of what may not be there: undefined where it is not. */
export function passOverMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}
