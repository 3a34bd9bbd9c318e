import { z } from 'zod';
import { BadCursorError } from './store-errors.ts';

/** The most that one page holds, whatever is asked for. */
const MAX_PAGE = 200;

export const pageSize = (limit: number): number =>
  Math.min(Math.max(Math.trunc(limit), 1), MAX_PAGE);

/** Where a page ended, by what its list is in order of. Newer rows do not move it. */
export const RUN_PLACE = z.tuple([z.number(), z.string()]);
export const CALL_PLACE = z.tuple([z.number()]);

/** Opaque to callers, so that it can change. */
export const writeCursor = (place: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(place)).toString('base64url');

export function readCursor<Place>(text: string, schema: z.ZodType<Place>): Place {
  const place = schema.safeParse(parse(Buffer.from(text, 'base64url').toString('utf8')));
  if (place.success) return place.data;
  throw new BadCursorError(
    'not a cursor of this list; use the next_cursor of the page before, as it was given',
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not JSON, so no cursor of ours: the caller is told so.
  }
}
