/** A file or folder is not there (ENOENT), and nothing else went wrong. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';
