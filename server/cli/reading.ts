import type { z } from 'zod';
import type { Context } from './command.ts';
import { CliError } from './exit-codes.ts';

/** The pages of a list, one at a time, from the newest on. `path` has its query already. */
export async function* pagesOf<T extends { readonly next_cursor: string | null }>(
  { server, signal }: Context,
  path: string,
  schema: z.ZodType<T>,
): AsyncGenerator<T> {
  let next: string | null = path;
  while (next !== null) {
    const page: T = await server().get(next, schema, signal);
    yield page;
    next =
      page.next_cursor === null ? null : `${path}&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
}

/** Gives what `pick` finds on the pages of a list, newest first: all of it, or so many. */
export async function allOf<T extends { readonly next_cursor: string | null }, Item>(
  context: Context,
  path: string,
  schema: z.ZodType<T>,
  pick: (page: T) => readonly Item[],
  most = Number.POSITIVE_INFINITY,
): Promise<Item[]> {
  const items: Item[] = [];
  for await (const page of pagesOf(context, path, schema)) {
    items.push(...pick(page));
    if (items.length >= most) break;
  }
  return items.slice(0, most);
}

/** A whole number from 1 to a million. */
export function readCount(context: Context, option: string): number | undefined {
  const text = context.text(option);
  if (text === undefined) return undefined;
  const count = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= 1_000_000) return count;
  throw new CliError('usage', `--${option} is ${text}; it must be a whole number from 1 on`);
}

const LONGEST_S = 7 * 24 * 3_600;

/** Seconds, fractions allowed, as milliseconds. */
export function readSeconds(context: Context, option: string): number | undefined {
  const text = context.text(option);
  if (text === undefined) return undefined;
  const seconds = /^\d{1,6}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds > 0 && seconds <= LONGEST_S) return seconds * 1_000;
  throw new CliError('usage', `--${option} is ${text}; it must be seconds, such as 30 or 0.5`);
}
