import { type Kysely, sql } from 'kysely';
import type { ReadThread } from './read-thread.ts';
import { fromDeliveryRow } from './record-rows.ts';
import type { Deliveries } from './store.ts';
import type { DeliveryRow, Tables } from './tables.ts';

const MAX_PAGE = 200;

/** What the outbox reads: what is open at a start, and pages for people. */
export function createDeliveryReads(
  { rows }: Pick<ReadThread, 'rows'>,
  kysely: Kysely<Tables>,
): Deliveries {
  const read = async (query: ReturnType<typeof sql<DeliveryRow>>) =>
    (await rows(query.compile(kysely))).rows.map(fromDeliveryRow);
  return {
    open: () =>
      read(sql<DeliveryRow>`select * from deliveries indexed by deliveries_open
        where ended_at is null order by id`),
    async get(id) {
      const [found] = await read(sql<DeliveryRow>`select * from deliveries where id = ${id}`);
      return found;
    },
    async list({ before, limit }) {
      const take = Math.min(Math.max(limit, 1), MAX_PAGE);
      const below = before === undefined ? sql`true` : sql`id < ${before}`;
      const found = await read(sql<DeliveryRow>`select * from deliveries where ${below}
        order by id desc limit ${take + 1}`);
      const deliveries = found.slice(0, take);
      const last = deliveries.at(-1);
      return { deliveries, next: found.length > take && last ? last.id : null };
    },
  };
}
