import { BadCursorError } from './store-errors.ts';

/** Where a page ended: the time and id of its last row. Newer rows do not move it. */
export interface PageCursor {
  readonly at: number;
  readonly id: string;
}

/** Opaque to callers, so that it can change. */
export const writeCursor = ({ at, id }: PageCursor): string =>
  Buffer.from(JSON.stringify([at, id])).toString('base64url');

export function readCursor(text: string): PageCursor {
  const [at, id, ...more] = parseList(Buffer.from(text, 'base64url').toString('utf8'));
  if (typeof at !== 'number' || typeof id !== 'string' || more.length > 0) {
    throw badCursor();
  }
  return { at, id };
}

const badCursor = (): BadCursorError =>
  new BadCursorError(
    'not a cursor of this list; use the next_cursor of the page before, as it was given',
  );

/** Of calls, whose order is that in which they were first written. */
export const writeRowCursor = (row: number): string =>
  Buffer.from(JSON.stringify([row])).toString('base64url');

export function readRowCursor(text: string): number {
  const [row, ...more] = parseList(Buffer.from(text, 'base64url').toString('utf8'));
  if (typeof row !== 'number' || more.length > 0) throw badCursor();
  return row;
}

function parseList(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return []; // Not JSON, so no cursor of ours: the caller is told so.
  }
}
