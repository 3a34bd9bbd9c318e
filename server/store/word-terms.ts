import { sql } from 'kysely';
import type { ReadThread } from './read-thread.ts';

/** More terms than these are not named one by one. */
const MAX_TERMS = 8;
const ONE_TERM = /^[a-z0-9]+$/i;

/** The terms of the word index in their order, as a table of a connection that reads. */
export const TERMS_TABLE =
  'CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, tool_call_text, instance)';

type Reader = Pick<ReadThread, 'rows'>;

/**
 * An FTS5 query for words, each of which is a beginning (`searchWords`). FTS5
 * reads every call of a beginning before it gives the first one; of whole terms it
 * reads no more calls than it gives. So the terms that begin so are named, where
 * they are few: a jump in the index for each of them.
 */
export async function toMatch(reader: Reader, words: readonly string[]): Promise<string> {
  const parts: string[] = [];
  for (const word of words) {
    const terms = ONE_TERM.test(word) ? await termsFrom(reader, word.toLowerCase()) : [];
    const isNamed = terms.length > 0 && terms.length <= MAX_TERMS;
    const named = terms.map((term) => `"${term}"`).join(' OR ');
    parts.push(isNamed ? `(${named})` : `("${word.replaceAll('"', '""')}" *)`);
  }
  return parts.join(' AND ');
}

/** Lists the terms that begin so, at most one more than are named. */
async function termsFrom({ rows }: Reader, beginning: string): Promise<string[]> {
  const found = await rows(termsQuery(beginning));
  return found.rows.flatMap(({ term }) => (term?.startsWith(beginning) ? [term] : []));
}

const termsQuery = (beginning: string) => sql<{ term: string | null }>`
  with recursive found (term) as (
    select (select term from temp.terms where term >= ${beginning} limit 1)
    union all
    select (select terms.term from temp.terms as terms where terms.term >= found.term || char(1) limit 1)
      from found where substr(found.term, 1, ${beginning.length}) = ${beginning}
    limit ${MAX_TERMS + 1}
  ) select term from found`;
