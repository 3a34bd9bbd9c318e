import type { CardUpdate } from '../protocol/card.ts';
import { mergeCard } from './merge-card.ts';

/**
 * Two updates as one, with the same effect on any card that has seen neither.
 * Holds for what this server publishes, where no status goes back.
 */
export function mergeUpdates(first: CardUpdate, second: CardUpdate): CardUpdate {
  const { params, ...rest } = mergeCard({ ...first, params: first.params ?? {} }, second);
  return first.params || second.params ? { ...rest, params } : rest;
}
