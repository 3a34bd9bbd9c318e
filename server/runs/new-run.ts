import type { NewSettings, RunSettings, RunSummary } from '#lib/protocol/run';
import { stripInvisible } from '#lib/text/invisible';
import type { Clock } from '../base/clock.ts';

const LONGEST_TITLE = 60;

export type NewRun = Pick<RunSummary, 'run_id' | 'title'> &
  Partial<Pick<RunSummary, 'model' | 'tools' | 'pinned_tools' | 'owner' | 'parent' | 'settings'>>;

/** A run that has not begun a turn; `title` is cut to a title's length. */
export function newRun(clock: Clock, from: NewRun & Pick<RunSummary, 'max_steps'>): RunSummary {
  const now = clock.now() / 1000;
  return {
    model: null,
    tools: null,
    status: 'idle',
    step: 0,
    error: null,
    ...from,
    title: runTitle(from.title),
    created_at: now,
    updated_at: now,
  };
}

/** A run is called by its first words that show, on one line, at most 60 characters. */
function runTitle(input: string): string {
  const words = Array.from(stripInvisible(input).replace(/\s+/g, ' ').trim());
  if (words.length <= LONGEST_TITLE) return words.join('');
  const kept = words.slice(0, LONGEST_TITLE - 1).join('');
  return `${kept.trimEnd()}…`;
}

export type Settled = { readonly settings?: RunSettings };

/** The settings of a run once these are given, in the form of a patch. */
export function settled(before: RunSettings | undefined, given: NewSettings | undefined): Settled {
  if (given === undefined) return {};
  const all = Object.entries({ ...before, ...given }).filter(([, value]) => value !== null);
  return { settings: Object.fromEntries(all) };
}
