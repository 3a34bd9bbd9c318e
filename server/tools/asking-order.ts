import type { ClientStanding, Trip } from './tool-registry.ts';

/** One client that offers a tool, and how it stands. */
export interface Offering {
  readonly clientId: string;
  readonly standing: ClientStanding & { readonly trip: Trip | undefined };
}

/**
 * Which clients are asked, in order (contract, section 5; rule TR7): only the one
 * that was named; else first those that answer and deliver, of these the one
 * whose person asks, then visible ones, then the one that a person touched last.
 * Clients that stand alike keep their order. Pure.
 */
export function askingOrder<T extends Offering>(
  offerings: readonly T[],
  asked: { readonly named: string | undefined; readonly from: string | null },
): T[] {
  const { named, from } = asked;
  return offerings
    .filter(({ clientId }) => named === undefined || clientId === named)
    .sort((a, b) => firstOf(a, b, canBeAsked) || firstOf(a, b, isFrom(from)) || byStanding(a, b));
}

const canBeAsked = ({ standing }: Offering): boolean => standing.responsive && !standing.trip;

const isFrom =
  (from: string | null) =>
  ({ clientId }: Offering): boolean =>
    clientId === from;

const byStanding = (a: Offering, b: Offering): number =>
  firstOf(a, b, ({ standing }) => standing.visible) ||
  b.standing.lastTouchedAt - a.standing.lastTouchedAt;

const firstOf = (a: Offering, b: Offering, has: (one: Offering) => boolean): number =>
  Number(has(b)) - Number(has(a));
