import type { z } from 'zod';
import type { Context } from './command.ts';

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
