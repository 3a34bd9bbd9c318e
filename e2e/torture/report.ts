import type { describeMachine } from '../support/describe-machine.ts';
import type { ScenarioRun } from './run-scenario.ts';
import { withoutStack } from './without-stack.ts';

export interface MutantRun {
  readonly name: string;
  readonly scenario: string;
  readonly isKilled: boolean;
  /** Short runs until it was; a guard that needs more than one is met by chance. */
  readonly tries: number;
  readonly seconds: number;
  /** The first violation that it caused. */
  readonly seen: string;
}

export interface ModelRun {
  readonly states: number;
  readonly violations: number;
  readonly summary: string;
  readonly broken: readonly { readonly name: string; readonly hasCounterExample: boolean }[];
}

/** When, by what and on what something was run. */
export interface RunFacts {
  readonly date: string;
  readonly seed: string;
  readonly commit: string;
  readonly machine: ReturnType<typeof describeMachine>;
}

/** The report on one command. */
export interface TortureReport extends RunFacts {
  readonly cycles: number;
  readonly scenarios: readonly ScenarioRun[];
  readonly mutants: readonly MutantRun[];
  readonly model: ModelRun | undefined;
}

type Kept<T> = T & { readonly by: RunFacts };

/** The newest long run of each part; `docs/reliability.json`. */
export interface KeptReport {
  readonly scenarios: readonly Kept<ScenarioRun>[];
  readonly mutants: readonly Kept<MutantRun>[];
  readonly model: Kept<ModelRun> | undefined;
}

/**
 * What is kept after another run: its own parts, and those of earlier runs that
 * it did not repeat. Parts that are no longer there are dropped.
 */
export function mergeReport(
  kept: KeptReport | undefined,
  report: TortureReport,
  known: { readonly scenarios: readonly string[]; readonly mutants: readonly string[] },
): KeptReport {
  const { date, seed, commit, machine } = report;
  const by: RunFacts = { date, seed, commit, machine };
  const scenarios = known.scenarios.flatMap((id) => {
    const run = report.scenarios.find((one) => one.id === id);
    return run ? [{ ...run, by }] : (kept?.scenarios.filter((one) => one.id === id) ?? []);
  });
  const mutants = known.mutants.flatMap((name) => {
    const run = report.mutants.find((one) => one.name === name);
    return run ? [{ ...run, by }] : (kept?.mutants.filter((one) => one.name === name) ?? []);
  });
  return {
    scenarios: scenarios.map((run) => ({ ...run, outcome: toKept(run.outcome) })),
    mutants: mutants.map((run) => ({ ...run, seen: withoutStack(run.seen) })),
    model: report.model ? { ...report.model, by } : kept?.model,
  };
}

const toKept = (outcome: ScenarioRun['outcome']): ScenarioRun['outcome'] => ({
  ...outcome,
  violations: outcome.violations.map((one) => ({ ...one, detail: withoutStack(one.detail) })),
});

/** `docs/reliability.md`: made from what was seen, never by hand. */
export function toMarkdown(kept: KeptReport): string {
  const killed = kept.mutants.filter((one) => one.isKilled).length;
  const atOnce = kept.mutants.filter((one) => one.isKilled && one.tries === 1).length;
  return [
    '# What was tried, and what was seen',
    '',
    'Written by `npm run torture` from the newest long run of each part; do not edit. What is',
    'promised, and what is not, stands in [promises.md](promises.md). A row of before can be played',
    'again: `npm run torture -- --only <fault> --seed <seed>` at its commit.',
    '',
    '`npm test` tries the page of a phone, the board with its drawing, and the page tag in WebKit and',
    'Firefox, too, as Debian has them (`webkit2gtk-driver`, `firefox-esr`); all other rows are of Chromium.',
    '',
    '## Faults',
    '',
    '| fault | what was done | what was seen | violations | s | run |',
    '| --- | --- | --- | --- | --- | --- |',
    ...kept.scenarios.map(toRow),
    '',
    ...figures(kept.scenarios),
    '## Guards taken out',
    '',
    'Each is a build of its own with one guard removed. The first run of its fault has to find broken',
    'what the guard is for; anything else that goes wrong in it, and a later run, count for nothing.',
    '',
    `${kept.mutants.length} mutants, ${killed} killed, ${atOnce} of them at the first run.`,
    '',
    '| mutant | fault | killed | runs | first sign |',
    '| --- | --- | --- | --- | --- |',
    ...kept.mutants.map(
      (one) =>
        `| ${cell(one.name)} | ${one.scenario} | ${one.isKilled ? 'yes' : '**no**'} | ${one.tries === 1 ? 1 : `**${one.tries}**`} | ${cell(one.seen)} |`,
    ),
    '',
    ...modelLines(kept.model),
    '## Machines',
    '',
    ...machines(kept),
    '',
  ].join('\n');
}

const toRow = ({ id, name, outcome, seconds, by }: Kept<ScenarioRun>): string => {
  const seen =
    outcome.notDone === undefined
      ? outcome.summary
      : `${outcome.summary} **Not done: ${outcome.notDone}**`;
  const columns = [id, cell(name), cell(seen), outcome.violations.length, seconds.toFixed(0)];
  return `| ${[...columns, runOf(by)].join(' | ')} |`;
};

const runOf = ({ date, seed, commit }: RunFacts): string =>
  `${date.slice(0, 16)}Z, seed ${seed}, commit ${commit}`;

function figures(scenarios: readonly Kept<ScenarioRun>[]): string[] {
  return [
    '<details><summary>All figures</summary>',
    '',
    '```json',
    JSON.stringify(
      Object.fromEntries(scenarios.map(({ id, outcome }) => [id, outcome.figures])),
      undefined,
      2,
    ),
    '```',
    '',
    '</details>',
    '',
  ];
}

function modelLines(model: Kept<ModelRun> | undefined): string[] {
  if (!model) return [];
  const found = model.broken.filter((one) => one.hasCounterExample).length;
  return [
    '## The model',
    '',
    `${model.summary} Run: ${runOf(model.by)}.`,
    '',
    `${model.broken.length} broken designs, ${found} counter-examples:`,
    '',
    ...model.broken.map(
      ({ name, hasCounterExample }) => `- ${name}${hasCounterExample ? '' : ': **none found**'}`,
    ),
    '',
  ];
}

/** Each once, however many runs were made on it. */
function machines(kept: KeptReport): string[] {
  const runs = [...kept.scenarios, ...kept.mutants].map(({ by }) => by.machine);
  const lines = runs.map(({ cpus, cpu, memory, platform, arch, node }) => {
    const gigabytes = Math.round(memory / 2 ** 30);
    return `- ${cpus} × ${cpu}, ${gigabytes} GiB, ${platform} ${arch}, Node ${node}`;
  });
  return [...new Set(lines)];
}

/** A table's cell is one line, and short. */
const cell = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
};
