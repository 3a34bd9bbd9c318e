import type { CardUpdate } from '../protocol/card.ts';
import { withEllipsis } from '../text/with-ellipsis.ts';

type Shown = Pick<CardUpdate, 'repairs'>;

/** A card stands among hundreds in a snapshot. */
const MOST_PATHS = 10;
const PATH_CHARS = 100;

/** A card shows this of repaired arguments (CA40), after those of `before`; nothing where none were. */
export function shownRepairs(repairs: readonly string[], before?: Shown): Shown {
  if (repairs.length === 0) return {};
  const earlier = before?.repairs;
  const more = repairs.slice(0, MOST_PATHS).map((path) => withEllipsis(path, PATH_CHARS));
  const paths = [...(earlier?.paths ?? []), ...more];
  return {
    repairs: {
      paths: paths.slice(0, MOST_PATHS),
      count: (earlier?.count ?? 0) + repairs.length,
    },
  };
}

/** It is for arguments that a person wrote in place of those of `before`. */
export const shownRepairsOfEdit = (repairs: readonly string[], before: Shown): Shown =>
  repairs.length === 0 && before.repairs ? { repairs: null } : shownRepairs(repairs);
