import { compilePattern, MAX_PATTERN_SIZE } from '../schema/compile-pattern.ts';
import { patternSize } from '../schema/pattern-size.ts';

/** What all patterns of one policy may take, as `patternSize` counts: about a tenth of a second. */
const MOST_OF_PATTERNS = 20_000;

/** What a pattern takes however small it is. */
const EACH = 16;

interface WithConditions {
  readonly args?: readonly { readonly matches?: string | undefined }[] | undefined;
}

/** The first pattern that cannot be used, alone or beside those before it. No further one is compiled. */
export function patternProblem(definition: {
  readonly rules: readonly WithConditions[];
  readonly limits: readonly WithConditions[];
}) {
  let left = MOST_OF_PATTERNS;
  for (const list of ['rules', 'limits'] as const) {
    for (const [at, { args = [] }] of definition[list].entries()) {
      for (const [place, { matches }] of args.entries()) {
        if (matches === undefined) continue;
        left -= patternSize(matches) + EACH;
        const message = left < 0 ? TOO_MANY : problemOf(matches);
        if (message) return { message, path: [list, at, 'args', place, 'matches'], input: matches };
      }
    }
  }
  return undefined;
}

const TOO_MANY = `the patterns of a policy together may take ${MOST_OF_PATTERNS}, each about its letters and ${EACH}, where a repetition such as "{20}" counts as often; use fewer or smaller ones`;

function problemOf(pattern: string): string | undefined {
  const compiled = compilePattern(pattern, MAX_PATTERN_SIZE);
  return compiled.ok ? undefined : `the pattern ${compiled.reason}`;
}
