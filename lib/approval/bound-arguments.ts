import { sameJson } from '../json/equal.ts';
import { fitsJson } from '../json/measure-json.ts';
import type { AlwaysOffer, BoundArgument, BoundArguments } from '../protocol/always.ts';
import { BOUND_LIMITS } from '../protocol/limits.ts';

type Args = Readonly<Record<string, unknown>>;

/** All that one rule is bound to, as JSON. */
const MOST_BOUND_BYTES = 16 * 1024;

/** So many members of values all the rules that are looked at for one call compare together. */
const MOST_MEMBERS = 100_000;

/** So much of it is left; less than none once something was not compared. */
export interface Looking {
  members: number;
  /** So many names the arguments have: to list them for each rule would take long. */
  readonly names: number;
}

export const newLooking = (args: Args): Looking => ({
  members: MOST_MEMBERS,
  names: Object.keys(args).length,
});

export const ANY_ARGUMENTS: BoundArguments = { arguments: [], other_arguments: 'any' };

export const isBound = (bound: BoundArguments): boolean => bound.arguments.length > 0;

/** The rule for these values and no others. */
export const exactly = (args: Args): BoundArguments => ({
  arguments: Object.entries(args).map(([name, is]) => ({ name, is })),
  other_arguments: 'none',
});

/** True when a rule is for a call with these arguments. It is for none that cannot be compared. */
export function isWithin(bound: BoundArguments, args: Args, looking = newLooking(args)): boolean {
  if (!isBound(bound)) return true;
  if (bound.other_arguments === 'none' && looking.names > countNames(bound)) return false;
  // They are there, so that those that are more than them are others.
  return bound.arguments.every(
    (one) => Object.hasOwn(args, one.name) && meets(one, args[one.name], looking),
  );
}

const countNames = (bound: BoundArguments): number =>
  new Set(bound.arguments.map(({ name }) => name)).size;

function meets(bound: BoundArgument, value: unknown, looking: Looking): boolean {
  const { starts_with: start, at_most: most } = bound;
  if (start) {
    const isLong = Array.isArray(value) && value.length >= start.length;
    return isLong && start.every((one, at) => isSame(one, value[at], looking));
  }
  // A value that is no number, or is not comparable, is below none.
  if (most !== undefined) return typeof value === 'number' && value <= most;
  return Object.hasOwn(bound, 'is') && isSame(bound.is, value, looking);
}

function isSame(one: unknown, other: unknown, looking: Looking): boolean {
  const isEqual = sameJson(one, other, (members) => {
    looking.members -= members;
    return looking.members >= 0;
  });
  return isEqual && looking.members >= 0;
}

/** Why a rule may not be bound so to a call with these arguments; undefined: it may. */
export function problemOfBound(
  { binding }: Pick<AlwaysOffer, 'binding'>,
  bound: BoundArguments,
  args: Args,
): string | undefined {
  if (!isBound(bound)) {
    if (bound.other_arguments === 'none') return '"other_arguments" needs "bound"';
    return binding === 'exact' ? NEEDS_VALUES : undefined;
  }
  if (binding === 'never') {
    return 'The schema of the tool is not checked as a whole, so that a rule cannot be bound to arguments';
  }
  const names = bound.arguments.map(({ name }) => name);
  const unknown = names.find((name) => !Object.hasOwn(args, name));
  if (unknown !== undefined) return `The call has no argument ${JSON.stringify(unknown)}`;
  if (new Set(names).size < names.length) return 'An argument is named twice';
  if (bound.arguments.some(isOverLimits) || names.length > BOUND_LIMITS.arguments) {
    return `A rule has ${BOUND_LIMITS.arguments} arguments at most, their names ${BOUND_LIMITS.nameChars} characters, and a start ${BOUND_LIMITS.startItems} items`;
  }
  if (!fitsJson(bound.arguments, MOST_BOUND_BYTES)) {
    return `The arguments of a rule have ${MOST_BOUND_BYTES} bytes of JSON at most`;
  }
  if (binding === 'exact' && !isExact(bound)) return NEEDS_VALUES;
  return isWithin(bound, args) ? undefined : 'The call that it is made of would not be allowed';
}

const isOverLimits = ({ name, starts_with: start }: BoundArgument): boolean =>
  name.length > BOUND_LIMITS.nameChars || (start?.length ?? 0) > BOUND_LIMITS.startItems;

const NEEDS_VALUES =
  'Such a call is always allowed for its very arguments alone: each with "is", and "other_arguments": "none"';

const isExact = (bound: BoundArguments): boolean =>
  bound.other_arguments === 'none' && bound.arguments.every((one) => Object.hasOwn(one, 'is'));
