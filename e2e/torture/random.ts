/** Choices that come out the same for the same seed, so that a failure can be played again. */
export interface Random {
  /** From 0 up to, but not, 1. */
  next(): number;
  /** A whole number from `low` to `high`, both possible. */
  between(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
  shuffle<T>(items: readonly T[]): T[];
  /** Random bytes. */
  bytes(count: number): Buffer;
  /** Another sequence, which does not depend on how much of this one was used. */
  fork(name: string): Random;
}

/** `mulberry32` (public domain): 32 bits of state are plenty for choosing faults. */
export function createRandom(seed: string): Random {
  let state = hashOf(seed);

  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));

  function shuffle<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, rank: next() }))
      .toSorted((a, b) => a.rank - b.rank)
      .map(({ item }) => item);
  }

  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick(choices) {
      const chosen = choices[between(0, choices.length - 1)];
      if (chosen === undefined) throw new Error('There is nothing to pick from');
      return chosen;
    },
    shuffle,
    bytes: (count) => Buffer.from(Array.from({ length: count }, () => between(0, 255))),
    fork: (name) => createRandom(`${seed}/${name}`),
  };
}

/** FNV-1a. */
function hashOf(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193);
  return value | 0;
}
