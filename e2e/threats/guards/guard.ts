/** A statement that holds a threat of docs/threats.md, and the same one broken: a test of that number fails then. */
export interface Guard {
  readonly number: string;
  readonly file: string;
  /** Stands there once. */
  readonly code: string;
  readonly broken: string;
}
