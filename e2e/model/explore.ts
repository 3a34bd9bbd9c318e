import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Design } from './design.ts';
import { brokenPromise } from './properties.ts';
import { createSteps, settle } from './steps.ts';
import { type Bounds, copyOf, firstWorld, type World } from './world.ts';

export interface Exploration {
  readonly states: number;
  readonly transitions: number;
  readonly depth: number;
  /** Empty when every promise holds in every state. */
  readonly violation: string;
  /** The shortest way to the violation, step by step. */
  readonly trace: readonly string[];
}

/**
 * Looks at every state that can be reached, nearest first, and at every step
 * between them; ends at the first broken promise. States are told apart by 53
 * bits of their JSON's hash.
 */
export function explore(design: Design, bounds: Bounds): Exploration {
  const stepsOf = createSteps(design, bounds);
  const first = firstWorld(bounds);
  const numbers = new Map([[hash(JSON.stringify(first)), 0]]);
  const cameFrom = [{ state: -1, label: '' }];
  const edges: [number[], number[]] = [[], []];
  const ends: number[] = [];
  let layer = [{ number: 0, before: first }];
  let depth = 0;

  const found = (violation: string, last: number, label?: string): Exploration => {
    const trace = label === undefined ? [] : [label];
    for (let at = last; at > 0; at = cameFrom[at]?.state ?? -1)
      trace.push(cameFrom[at]?.label ?? '');
    const transitions = edges[0].length;
    return { states: numbers.size, transitions, depth, violation, trace: trace.reverse() };
  };

  for (; layer.length > 0; depth += 1) {
    const next: typeof layer = [];
    for (const { number, before } of layer) {
      if (isEnd(before)) ends.push(number);
      for (const { label, take } of stepsOf(before)) {
        const w = copyOf(before);
        take(w);
        settle(w);
        const violation = brokenPromise(before, w, bounds);
        if (violation) return found(violation, number, label);
        const key = hash(JSON.stringify(w));
        let target = numbers.get(key);
        if (target === undefined) {
          target = numbers.size;
          numbers.set(key, target);
          cameFrom.push({ state: number, label });
          next.push({ number: target, before: w });
        }
        edges[0].push(number);
        edges[1].push(target);
      }
    }
    layer = next;
  }
  const stuck = firstStuck(numbers.size, edges, ends);
  return stuck < 0 ? found('', 0) : found('P4: from here on it can never end', stuck);
}

/** Final and on disk; or gone with the crash of a server that had told nobody of it. */
const isEnd = ({ disk, isUp, isAccepted, pending }: World): boolean =>
  disk === null ? isUp && !isAccepted && pending.length === 0 : isFinalStatus(disk.status);

/** The first state from which no end can be reached, or -1. */
function firstStuck(
  states: number,
  [from, to]: [number[], number[]],
  ends: readonly number[],
): number {
  const before = Array.from({ length: states }, (): number[] => []);
  for (const [edge, source] of from.entries()) before[to[edge] ?? 0]?.push(source);
  const canEnd = new Uint8Array(states);
  const open = [...ends];
  for (const state of open) canEnd[state] = 1;
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    for (const source of before[state] ?? []) {
      if (canEnd[source]) continue;
      canEnd[source] = 1;
      open.push(source);
    }
  }
  return canEnd.indexOf(0);
}

/** 53 bits, by two multiplications (cyrb53): good to tell states apart, not for secrets. */
function hash(text: string): number {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2_654_435_761);
    low = Math.imul(low ^ code, 1_597_334_677);
  }
  high =
    Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low =
    Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return 4_294_967_296 * (2_097_151 & low) + (high >>> 0);
}
