import type { Compilable, ExpressionBuilder, Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/**
 * An insert that replaces all other columns of a row with the same key. Kysely
 * types such a query for a table it knows, not for one that is a parameter: the
 * casts stand for what the signature has checked.
 */
export function upsert<T extends keyof Tables>(
  kysely: Kysely<Tables>,
  table: T,
  key: readonly (keyof Tables[T] & string)[],
  row: Tables[T],
): Compilable {
  const others = Object.keys(row).filter((column) => !key.some((part) => part === column));
  const excluded = (eb: ExpressionBuilder<Tables, never>) =>
    Object.fromEntries(others.map((column) => [column, eb.ref(`excluded.${column}` as never)]));
  return kysely
    .insertInto(table)
    .values(row as never)
    .onConflict((conflict) => conflict.columns(key as never).doUpdateSet(excluded as never));
}
