/** A statement that holds a threat (T, E) or a promise (P) of the pages in docs, and the same one broken: its tests fail then. */
export interface Guard {
  readonly number: string;
  readonly file: string;
  /** Stands there once. */
  readonly code: string;
  readonly broken: string;
}

/** The code of a guard, and what it becomes. */
export function guard(
  number: string,
  file: string,
  change: Readonly<Record<string, string>>,
): Guard {
  const [[code, broken] = ['', '']] = Object.entries(change);
  return { number, file, code, broken };
}
