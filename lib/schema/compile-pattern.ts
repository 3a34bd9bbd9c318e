import { RE2JS } from 're2js';
import { regexes } from 'zod/v4/core';
import { patternSize } from './pattern-size.ts';
import type { SafePattern } from './schema-node.ts';
import { splitLookAheads } from './split-look-aheads.ts';

/** `patternSize` counts it. Measured: a pattern of 2,000 compiles in about 10 ms, 20 ms at worst. */
export const MAX_PATTERN_SIZE = 2_000;
const MAX_PATTERN_CHARS = 2_000;

export type CompiledPattern =
  | {
      readonly ok: true;
      readonly pattern: SafePattern;
      /** How much of the room it takes. */
      readonly size: number;
    }
  | { readonly ok: false; readonly reason: string };

/**
 * Patterns that zod writes and RE2 cannot run, for emoji and durations: each is anchored and has no
 * nested repetition, so the engine of JavaScript tests it in linear time, too.
 */
const LINEAR_ANYWAY: ReadonlyMap<string, RegExp> = new Map(
  [
    regexes.duration,
    regexes.extendedDuration,
    regexes.emoji(),
    /^(\p{Extended_Pictographic}|\p{Emoji_Component})+$/u,
  ].map((one) => [one.source, new RegExp(one.source, 'u')]),
);
const LINEAR_SIZE = 32;

/** RE2 repeats a thousand times at most; this one says no more than how long a line may be. */
const LINE_OF_LENGTH = /^\^\.\{(\d{1,9}),?(\d{0,9})\}\$$/;
const LINE_BREAK = /[\n\r\u2028\u2029]/;

function linearAnyway(source: string): Pick<RegExp, 'test'> | undefined {
  const [, least, most] = LINE_OF_LENGTH.exec(source) ?? [];
  if (least === undefined) return LINEAR_ANYWAY.get(source);
  const isExact = !source.includes(',');
  const limit = isExact ? Number(least) : most ? Number(most) : Number.POSITIVE_INFINITY;
  return {
    test: (text) => {
      const length = countCharacters(text);
      return length >= Number(least) && length <= limit && !LINE_BREAK.test(text);
    },
  };
}

/** Counts code points, as JSON Schema does. */
export function countCharacters(text: string): number {
  let count = text.length;
  for (let i = 1; i < text.length; i += 1) {
    const low = text.charCodeAt(i);
    if (low < 0xdc00 || low > 0xdfff) continue;
    const high = text.charCodeAt(i - 1);
    if (high >= 0xd800 && high <= 0xdbff) count -= 1;
  }
  return count;
}

/**
 * Compiles a JSON Schema pattern for RE2, which never backtracks: its time is linear in the text
 * whatever the pattern. Look-aheads at the beginning become patterns of their own; other look-around
 * and back-references cannot be had that way. `room` is what is left for it beside the other patterns
 * of its schema; a pattern that exceeds it is not compiled.
 */
export function compilePattern(source: string, room: number): CompiledPattern {
  const known = linearAnyway(source);
  if (known) {
    const pattern = { source, size: LINEAR_SIZE, test: (text: string) => known.test(text) };
    return { ok: true, pattern, size: LINEAR_SIZE };
  }
  const estimate = patternSize(source.slice(0, MAX_PATTERN_CHARS));
  if (source.length > MAX_PATTERN_CHARS || estimate > MAX_PATTERN_SIZE) {
    return { ok: false, reason: 'is too large (counted repetitions multiply)' };
  }
  if (estimate > room) {
    return { ok: false, reason: 'is too large beside the other patterns of the schema' };
  }
  try {
    const parts = splitLookAheads(source);
    const size = parts.reduce((sum, part) => sum + toProgram(part.source).programSize(), 0);
    const tests = parts.map(createTest);
    const pattern = { source, size, test: (text: string) => tests.every((test) => test(text)) };
    return { ok: true, pattern, size: Math.max(size, estimate) };
  } catch {
    // The library's reasons name its own syntax; look-around and back-references are the usual ones.
    return {
      ok: false,
      reason:
        'cannot be tested in linear time or is not a regular expression; use no look-around and no back-references',
    };
  }
}

const toProgram = (source: string): RE2JS => RE2JS.compile(RE2JS.translateRegExp(source));

/**
 * A program takes thousands of bytes, and most patterns of tools are never tested:
 * it is compiled when it is needed, and garbage collection may take it back. Within
 * one check it stays, so a check compiles each pattern once at most.
 */
function createTest({ source, isWanted }: { source: string; isWanted: boolean }) {
  let held: WeakRef<RE2JS> | undefined;
  return (text: string): boolean => {
    const program = held?.deref() ?? toProgram(source);
    held = new WeakRef(program);
    return program.test(text) === isWanted;
  };
}
