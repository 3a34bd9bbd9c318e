import { RE2JS } from 're2js';
import { patternSize } from './pattern-size.ts';
import type { SafePattern } from './schema-node.ts';

/** Measured: a program of 2,000 instructions compiles in about 10 ms. */
export const MAX_PATTERN_SIZE = 2_000;
const MAX_PATTERN_CHARS = 2_000;

export type CompiledPattern =
  | { readonly ok: true; readonly pattern: SafePattern }
  | { readonly ok: false; readonly reason: string };

/**
 * Compiles a JSON Schema pattern for RE2, which never backtracks: its time is
 * linear in the text whatever the pattern. Look-around and back-references
 * cannot be had that way and are refused.
 */
export function compilePattern(source: string): CompiledPattern {
  if (source.length > MAX_PATTERN_CHARS || patternSize(source) > MAX_PATTERN_SIZE) {
    return { ok: false, reason: 'is too large (counted repetitions multiply)' };
  }
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source));
    return {
      ok: true,
      pattern: { source, size: compiled.programSize(), test: (text) => compiled.test(text) },
    };
  } catch {
    // The library's reasons name its own syntax; look-around and back-references are the usual ones.
    return {
      ok: false,
      reason:
        'cannot be tested in linear time or is not a regular expression; use no look-around and no back-references',
    };
  }
}
