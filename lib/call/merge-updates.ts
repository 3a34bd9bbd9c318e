import type { CardUpdate } from '../protocol/card.ts';
import { mergeCard } from './merge-card.ts';

/** One update that has the effect of several in a row, none of which changes a status. */
export function mergeUpdates(updates: readonly CardUpdate[]): CardUpdate {
  const [first = {}, ...more] = updates;
  if (more.length === 0) return first;
  const { params, ...merged } = updates.reduce(mergeCard, { params: {} });
  return Object.keys(params).length === 0 && !updates.some((update) => update.params)
    ? merged
    : { ...merged, params };
}
