/** The database cannot be trusted. The message names the file, what is wrong, and what to do. */
export class StoreDamagedError extends Error {
  override readonly name = 'StoreDamagedError';

  constructor(file: string, problem: string, options?: ErrorOptions) {
    super(
      `the database ${file} is damaged: ${problem}; restore it from a copy, or move it away to start with an empty one`,
      options,
    );
  }
}
