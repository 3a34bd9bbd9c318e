/**
 * Whether one more of a principal that has `own` may be among the `held` ones of all: it may have as
 * many as there are places free. So one alone takes half of them at most, two take a third each, and
 * there is always room for a newcomer.
 */
export const hasFairShare = (own: number, held: number, most: number): boolean => own < most - held;
