/**
 * The database cannot be trusted, and nothing was opened or changed. The message
 * names the file, the place, and the ways out.
 */
export class StoreDamagedError extends Error {
  override readonly name = 'StoreDamagedError';

  constructor(file: string, problem: string, options?: ErrorOptions) {
    super(
      `the database ${file} is damaged: ${problem}; start with --salvage to keep all that can be read, or restore a copy`,
      options,
    );
  }
}
