import type { ClientAvailability, OpenCircuit } from './tool-registry.ts';

/** One client that offers a tool, and its availability. */
export interface Offering {
  readonly clientId: string;
  readonly availability: ClientAvailability & { readonly openCircuit: OpenCircuit | undefined };
}

/**
 * Which clients are asked, in order (contract, section 5; rule TR7): only the one
 * that was named; else first those that answer and deliver, of these the one
 * whose person asks, then visible ones, then the one that a person touched last;
 * last those that do not answer.
 * Clients of equal availability keep their order. Pure.
 */
export function askingOrder<T extends Offering>(
  offerings: readonly T[],
  asked: { readonly named: string | undefined; readonly from: string | null },
): T[] {
  const { named, from } = asked;
  const sorted = offerings
    .filter(({ clientId }) => named === undefined || clientId === named)
    .sort(byAvailability);
  return [
    ...ownFirst(
      sorted,
      sorted.filter(({ clientId }) => clientId === from),
    ),
  ];
}

/** The order of those whose person does not ask: below zero when `a` is asked before `b`. */
export const byAvailability = (a: Offering, b: Offering): number =>
  firstOf(a, b, ({ availability }) => availability.responsive) ||
  firstOf(a, b, canBeAsked) ||
  firstOf(a, b, ({ availability }) => availability.visible) ||
  b.availability.lastTouchedAt - a.availability.lastTouchedAt;

/**
 * `sorted`, but those among them that are the asking's `own` come before the others
 * that can be asked, or cannot, as they. Read no further than it is needed.
 */
export function* ownFirst<T extends Offering>(
  sorted: Iterable<T>,
  own: readonly T[],
): Generator<T> {
  yield* own.filter(canBeAsked);
  let rest = own.filter((one) => !canBeAsked(one));
  for (const one of sorted) {
    if (rest.length > 0 && !canBeAsked(one)) {
      yield* rest;
      rest = [];
    }
    if (!own.includes(one)) yield one;
  }
}

const canBeAsked = ({ availability }: Offering): boolean =>
  availability.responsive && !availability.openCircuit;

const firstOf = (a: Offering, b: Offering, has: (one: Offering) => boolean): number =>
  Number(has(b)) - Number(has(a));
