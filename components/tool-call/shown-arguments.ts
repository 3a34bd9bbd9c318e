import type { Card } from '#lib/protocol/card';

/** CD22: the arguments of a card as their executor gets them, without what its client reported beside them. */
export function shownArguments({ params, argument_names }: Card): Record<string, unknown> {
  if (!argument_names) return params;
  const names = new Set(argument_names);
  return Object.fromEntries(Object.entries(params).filter(([name]) => names.has(name)));
}
