import { sql } from 'kysely';
import type { ReadThread } from './read-thread.ts';
import { fromMemoryRow } from './record-rows.ts';
import { wordsToFind } from './search-words.ts';
import type { Memories, MemorySizes } from './store.ts';
import type { MemoryRow } from './tables.ts';

/** Notes are read by this: the index has the words of all owners, an answer those of one. */
export function createMemories({ rows }: Pick<ReadThread, 'rows'>): Memories {
  return {
    async find({ ownerToken, text = '', limit }) {
      const owner = ownerToken ?? '';
      const words = wordsToFind(text);
      if (words?.length === 0) return [];
      const query = words === null ? newest(owner, limit) : best(owner, words, limit);
      return (await rows(query)).rows.map(fromMemoryRow);
    },
    async sizes(ownerToken, key) {
      const owner = ownerToken ?? '';
      const [sizes] = (await rows(sizesQuery(owner, key))).rows;
      if (!sizes) throw new Error('the sizes of memories were not read');
      return sizes;
    },
  };
}

const COLUMNS = sql`memories.owner, memories.key, memories.text, memories.words, memories.put_at,
  memories.untrusted, memories.checksum`;

const newest = (owner: string, limit: number) => sql<MemoryRow>`
  select ${COLUMNS} from memories where owner = ${owner} order by put_at desc, key limit ${limit}`;

/** Each word is a beginning, in quotes, so that none is an operator of FTS5. */
function best(owner: string, words: readonly string[], limit: number) {
  const match = words.map((word) => `("${word.replaceAll('"', '""')}" *)`).join(' OR ');
  return sql<MemoryRow>`
    select ${COLUMNS} from memory_text cross join memories on memories.row_no = memory_text.rowid
    where memory_text match ${match} and memories.owner = ${owner}
    order by bm25(memory_text), memories.put_at desc limit ${limit}`;
}

const sizesQuery = (owner: string, key: string) => sql<MemorySizes>`
  select count(*) as count, ifnull(sum(octet_length(text)), 0) as bytes,
    (select ifnull(sum(octet_length(text)), 0) from memories) as allBytes,
    (select octet_length(text) from memories where owner = ${owner} and key = ${key}) as replacedBytes
  from memories where owner = ${owner}`;
