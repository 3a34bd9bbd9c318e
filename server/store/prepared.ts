import { isDeepStrictEqual } from 'node:util';
import type { Compilable } from 'kysely';
import type { SqlValue } from './kysely-on.ts';
import type { Guard } from './row-checksum.ts';
import type { WriteStep } from './step-group.ts';
import type { Sum, WriteThread } from './write-thread.ts';

/**
 * Makes a row into a step of a transaction: the query is compiled once, for the first row, and then
 * run with the values of each. So `build` must use every property of its row, in their order, and
 * nothing else that varies; the first row proves that it does. Nothing is written until the step is
 * committed. The thread that writes fills in the checksums of a guarded row.
 */
export function preparedWrite<Row extends object>(
  thread: Pick<WriteThread, 'prepare'>,
  build: (row: Row) => Compilable,
  guards: readonly Guard[] = [],
): (row: Row) => WriteStep {
  let statement: number | undefined;
  return (row) => {
    const values = Object.values(row) as SqlValue[];
    if (statement === undefined) {
      const { sql, parameters } = build(row).compile();
      if (!isDeepStrictEqual(parameters, values)) {
        throw new Error(`the values of the row are not the parameters of: ${sql}`);
      }
      statement = thread.prepare(sql, toSums(guards, Object.keys(row)));
    }
    return [statement, values];
  };
}

function toSums(guards: readonly Guard[], columns: readonly string[]): Sum[] {
  const placeOf = (column: string) => {
    const place = columns.indexOf(column);
    if (place < 0) throw new Error(`the row has no ${column}, which its checksum needs`);
    return place;
  };
  return guards.map(({ sum, of }) => ({ at: placeOf(sum), of: of.map(placeOf) }));
}
