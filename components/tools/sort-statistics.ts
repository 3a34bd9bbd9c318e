import type { ToolStats } from '#lib/protocol/tool-stats';

export type ToolUse = ToolStats['tools'][number];
export type Figures = Pick<
  ToolUse,
  'count' | 'succeeded' | 'decided' | 'expired' | 'p50_ms' | 'p95_ms' | 'p99_ms'
>;

/** Of the calls that no decision ended; null: there is none. */
export const successOf = ({ count, succeeded, decided }: Figures): number | null =>
  count === decided ? null : succeeded / (count - decided);

export const failedOf = ({ count, succeeded, decided }: Figures): number =>
  count - succeeded - decided;

/** Null: none of its calls started. */
const VALUES = {
  count: ({ count }: Figures) => count,
  success: successOf,
  failed: failedOf,
  decided: ({ decided, expired }: Figures) => decided - expired,
  expired: ({ expired }: Figures) => expired,
  p50: (use: Figures) => use.p50_ms,
  p95: (use: Figures) => use.p95_ms,
  p99: (use: Figures) => use.p99_ms,
} satisfies Record<string, (use: Figures) => number | null>;

export const COLUMNS = [
  'tool',
  'count',
  'success',
  'failed',
  'decided',
  'expired',
  'p50',
  'p95',
  'p99',
] as const;
export type Column = (typeof COLUMNS)[number];

export interface Sorting {
  readonly by: Column;
  readonly isDescending: boolean;
}

/** After a press on the head of a column: the largest first, names from their beginning, then the other way round. */
export const nextSorting = (now: Sorting, by: Column): Sorting => ({
  by,
  isDescending: now.by === by ? !now.isDescending : by !== 'tool',
});

/** In that order, equal ones by name; what has no value comes last both ways. Pure. */
export function sortUses(uses: readonly ToolUse[], { by, isDescending }: Sorting): ToolUse[] {
  const direction = isDescending ? -1 : 1;
  const byName = (a: ToolUse, b: ToolUse) => (a.tool_name < b.tool_name ? -1 : 1);
  if (by === 'tool') return uses.toSorted((a, b) => direction * byName(a, b));
  const value = VALUES[by];
  return uses.toSorted((a, b) => {
    const [one, other] = [value(a), value(b)];
    if (one === other) return byName(a, b);
    if (one === null || other === null) return one === null ? 1 : -1;
    return direction * (one - other);
  });
}
