import { LIMITS } from '#lib/protocol/limits';
import type { CheckedSpec } from './tool-registry.ts';
import { type SpecDeps, validateToolSpec } from './validate-tool-spec.ts';

/** Of each turn of the event loop. A single tool takes up to some 60 ms, for its patterns. */
const MS_PER_TURN = 8;

interface OpenRegistration {
  readonly specs: readonly unknown[];
  /** Of the first of them. */
  readonly checked: CheckedSpec[];
  /** How many bytes of tools it may still have. */
  room: number;
  done(checked: readonly CheckedSpec[]): void;
}

/**
 * Checks the tools of registrations in slices, between which everything else is
 * served (TR18). Of several registrations one tool each in turn, so that a
 * small one does not wait for a large one. A tool that is offered already is not compiled again.
 */
export function createToolChecks(
  deps: Omit<SpecDeps, 'room'>,
): (specs: readonly unknown[]) => Promise<readonly CheckedSpec[]> {
  const open: OpenRegistration[] = [];

  function checkSlice(): void {
    const end = performance.now() + MS_PER_TURN;
    for (let next = open.shift(); next; next = open.shift()) {
      const { specs, checked, done } = next;
      if (checked.length < specs.length) {
        const one = validateToolSpec(specs[checked.length], { ...deps, room: next.room });
        if (one.ok) next.room -= one.tool.bytes;
        checked.push(one);
      }
      if (checked.length < specs.length) open.push(next);
      else done(checked);
      if (performance.now() >= end) break;
    }
    if (open.length > 0) setImmediate(checkSlice);
  }

  return (specs) =>
    new Promise((done) => {
      open.push({ specs, checked: [], room: LIMITS.toolBytesPerClient, done });
      // More than one: a slice is due already.
      if (open.length === 1) setImmediate(checkSlice);
    });
}
