const UNITS = ['B', 'kB', 'MB', 'GB'] as const;

/** A size in thousands (FM5), as file managers and networks count it. */
export function formatBytes(bytes: number, locale: string): string {
  let size = Math.max(0, bytes);
  let unit: (typeof UNITS)[number] = 'B';
  for (const next of UNITS.slice(1)) {
    // 999.95 would read as 1,000.0 of the smaller unit.
    if (size < 999.95) break;
    size /= 1_000;
    unit = next;
  }
  return `${size.toLocaleString(locale, { maximumFractionDigits: unit === 'B' ? 0 : 1 })} ${unit}`;
}
