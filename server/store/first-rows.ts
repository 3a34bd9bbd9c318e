export interface ReadRows<Row> {
  readonly rows: Row[];
  /** There are more rows, which `maxChars` did not let through. */
  readonly isCut: boolean;
}

/** Rows up to a size; the first one in any case. */
export function firstRows<Row extends object>(all: Iterable<Row>, maxChars: number): ReadRows<Row> {
  const rows: Row[] = [];
  let chars = 0;
  for (const row of all) {
    for (const value of Object.values(row)) if (typeof value === 'string') chars += value.length;
    if (chars > maxChars && rows.length > 0) return { rows, isCut: true };
    rows.push(row);
  }
  return { rows, isCut: false };
}
