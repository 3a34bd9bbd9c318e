import { PAGE_BYTES } from './page-rows.ts';
import type { WalSource } from './scan-wal.ts';

const FIRST_TRUNK_AT = 32;
const COUNT_AT = 36;
const MAX_LEAVES = PAGE_BYTES / 4 - 2;

/**
 * The pages that a database has and does not use, which still show what they
 * held once (sqlite.org/fileformat2.html#the_freelist). Undefined when their list
 * is damaged.
 */
export function readFreePages(database: WalSource): ReadonlySet<number> | undefined {
  const header = database.read(0, COUNT_AT + 4);
  if (header.length < COUNT_AT + 4) return undefined;
  const free = new Set<number>();
  const pages = Math.floor(database.size / PAGE_BYTES);
  const add = (page: number): boolean => {
    const isNews = page > 1 && page <= pages && !free.has(page);
    free.add(page);
    return isNews;
  };
  for (let trunk = header.readUInt32BE(FIRST_TRUNK_AT); trunk !== 0; ) {
    if (!add(trunk)) return undefined;
    const bytes = database.read((trunk - 1) * PAGE_BYTES, PAGE_BYTES);
    const leaves = bytes.readUInt32BE(4);
    if (leaves > MAX_LEAVES) return undefined;
    for (let leaf = 0; leaf < leaves; leaf += 1) {
      if (!add(bytes.readUInt32BE(8 + 4 * leaf))) return undefined;
    }
    trunk = bytes.readUInt32BE(0);
  }
  return free.size === header.readUInt32BE(COUNT_AT) ? free : undefined;
}
