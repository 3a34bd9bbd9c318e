import type { z } from 'zod';
import { type ErrorDetail, HttpError } from '#lib/protocol/http-error';

/** Further details cost bytes and help no reader. */
const MAX_DETAILS = 20;

/** The value by its schema, or a `bad_request` that lists what is wrong and where. */
export function checkShape<S extends z.ZodType>(
  schema: S,
  value: unknown,
  what: 'body' | 'query' | 'path',
): z.output<S> {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const details: ErrorDetail[] = checked.error.issues
    .slice(0, MAX_DETAILS)
    .map((issue) => ({ path: issue.path.map(String).join('.'), problem: issue.message }));
  const [first] = details;
  const where = first?.path ? `${first.path}: ` : '';
  throw new HttpError(
    'bad_request',
    `The ${what} does not have the right shape: ${where}${first?.problem ?? 'unknown'}`,
    { details },
  );
}
