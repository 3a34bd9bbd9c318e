import type { Run } from './kinds.ts';

/** Figures of one measured series. Times in milliseconds. */
export interface Series {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
}

export function summarise(times: readonly number[]): Series {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { count: sorted.length, p50: round(at(0.5) ?? 0), p99: round(at(0.99) ?? 0) };
}

export const round = (value: number, digits = 3): number => Number(value.toFixed(digits));

/** A bound of a ratio; without one it has none, and is there to be seen. */
export type Goal = { readonly atMost?: number; readonly atLeast?: number };

/** `ours` against `raw` of the same run, as the issue of a benchmark is told: a ratio and its target. */
export interface Ratio {
  readonly name: string;
  readonly ours: number;
  readonly raw: number;
  readonly unit: string;
  readonly ratio: number;
  readonly target: string;
  /** Undefined without a goal. */
  readonly met: boolean | undefined;
}

export function ratio(
  name: string,
  unit: string,
  ours: number,
  raw: number,
  { atMost, atLeast }: Goal,
): Ratio {
  const value = round(ours / raw);
  const [met, target] =
    atMost !== undefined
      ? [value <= atMost, `≤ ${atMost} ×`]
      : atLeast !== undefined
        ? [value >= atLeast, `≥ ${atLeast} ×`]
        : [undefined, ''];
  return { name, ours: round(ours), raw: round(raw), unit, ratio: value, target, met };
}

/** Runs `work` again and again, `inFlight` at a time, until `count` are done. */
export async function inParallel(
  count: number,
  inFlight: number,
  work: () => Promise<unknown>,
): Promise<{ times: number[]; perSecond: number }> {
  const times: number[] = [];
  let started = 0;
  const begin = performance.now();
  async function lane(): Promise<void> {
    while (started < count) {
      started += 1;
      const at = performance.now();
      await work();
      times.push(performance.now() - at);
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane));
  return { times, perSecond: count / ((performance.now() - begin) / 1000) };
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const ROUNDS = 5;
/** Calls of a series in one round, by how many are in flight. */
export const COUNTS = { 1: 500, 64: 2_000 } as const;
export type InFlight = keyof typeof COUNTS;
const IN_FLIGHT: readonly InFlight[] = [1, 64];

export interface Figures {
  readonly p50: number;
  readonly p99: number;
  readonly perSecond: number;
}

/** The medians of five rounds, in turn, so that a machine that slows down slows all of them. */
export async function inTurn<Name extends string>(
  runs: Readonly<Record<Name, Run>>,
): Promise<Record<Name, Record<InFlight, Figures>>> {
  const names = Object.keys(runs) as Name[];
  const rounds = names.map((name) => ({ name, 1: [] as Figures[], 64: [] as Figures[] }));
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    for (const inFlight of IN_FLIGHT) {
      for (const round of rounds) {
        const { times, perSecond } = await runs[round.name](COUNTS[inFlight], inFlight);
        round[inFlight].push({ ...summarise(times), perSecond });
      }
    }
  }
  const middle = (of: readonly Figures[]): Figures => ({
    p50: median(of.map(({ p50 }) => p50)),
    p99: median(of.map(({ p99 }) => p99)),
    perSecond: round(median(of.map(({ perSecond }) => perSecond)), 0),
  });
  const entries = rounds.map((of) => [of.name, { 1: middle(of[1]), 64: middle(of[64]) }]);
  return Object.fromEntries(entries);
}

/** A bound in the unit itself; beside it stands what the machine does without the work. */
export const atMost = (
  name: string,
  unit: string,
  ours: number,
  raw: number,
  most: number,
): Ratio => ({
  name,
  unit,
  ours,
  raw,
  ratio: round(ours / Math.max(1, raw)),
  target: `≤ ${most} ${unit}`,
  met: ours <= most,
});
