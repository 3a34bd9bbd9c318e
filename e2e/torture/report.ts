import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { describeMachine } from '../support/describe-machine.ts';
import type { ScenarioRun } from './run-scenario.ts';

export interface MutantRun {
  readonly name: string;
  readonly scenario: string;
  readonly isKilled: boolean;
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
interface RunFacts {
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
interface KeptReport {
  readonly scenarios: readonly Kept<ScenarioRun>[];
  readonly mutants: readonly Kept<MutantRun>[];
  readonly model?: Kept<ModelRun> | undefined;
}

/** The parts that there are, in their order. */
interface Parts {
  readonly scenarios: readonly string[];
  readonly mutants: readonly string[];
}

/** Brings `docs/reliability.json`, and the page that is made from it, up to what was just seen. */
export async function keepReport(docs: string, report: TortureReport, parts: Parts): Promise<void> {
  const file = join(docs, 'reliability.json');
  const before: KeptReport = existsSync(file)
    ? JSON.parse(await readFile(file, 'utf8'))
    : { scenarios: [], mutants: [] };
  const kept = mergeReport(before, report, parts);
  await writeFile(file, `${withoutStack(JSON.stringify(kept, undefined, 2))}\n`);
  await writeFile(join(docs, 'reliability.md'), toMarkdown(kept));
}

/** The parts of this run, and those of earlier ones that it did not repeat. What is no part any more goes. */
export function mergeReport(kept: KeptReport, report: TortureReport, parts: Parts): KeptReport {
  const { date, seed, commit, machine } = report;
  const by: RunFacts = { date, seed, commit, machine };
  const newest = <T>(now: readonly T[], before: readonly Kept<T>[], is: (one: T) => boolean) => {
    const run = now.find(is);
    return run ? [{ ...run, by }] : before.filter(is).slice(0, 1);
  };
  return {
    scenarios: parts.scenarios.flatMap((id) =>
      newest(report.scenarios, kept.scenarios, (one) => one.id === id),
    ),
    mutants: parts.mutants.flatMap((name) =>
      newest(report.mutants, kept.mutants, (one) => one.name === name),
    ),
    model: report.model ? { ...report.model, by } : kept.model,
  };
}

/**
 * Where in the code something went wrong says nothing elsewhere, and names this
 * machine's folders; as lines, or within a line of JSON.
 */
export const withoutStack = (text: string): string =>
  text.replaceAll(/(\n|\\n)\s+at [^\\\n]*/g, '').replaceAll(/\S*\/\S*:\d+:\d+\)?/g, '…');

/** `docs/reliability.md`: made from what was seen, never by hand. */
export function toMarkdown({ scenarios, mutants, model }: KeptReport): string {
  const killed = mutants.filter(({ isKilled }) => isKilled).length;
  const machines = [...scenarios, ...mutants].map(({ by: { machine } }) => {
    const { cpus, cpu, memory, platform, arch, node } = machine;
    return `- ${cpus} × ${cpu}, ${Math.round(memory / 2 ** 30)} GiB, ${platform} ${arch}, Node ${node}`;
  });
  return `# What was tried, and what was seen

Written by \`npm run torture\` from the newest long run of each part; do not edit. What is
promised, and what is not, stands in [promises.md](promises.md); all figures stand in
[reliability.json](reliability.json). A row of before can be played again:
\`npm run torture -- --only <fault> --seed <seed>\` at its commit.

\`npm test\` tries the page of a phone, the board with its drawing, and the page tag in WebKit and
Firefox, too, as Debian has them (\`webkit2gtk-driver\`, \`firefox-esr\`); all other rows are of Chromium.

## Faults

${table(
  ['fault', 'what was done', 'what was seen', 'violations', 's', 'run'],
  scenarios.map(({ id, name, outcome: { summary, notDone, violations }, seconds, by }) => [
    id,
    name,
    notDone === undefined ? summary : `${summary} **Not done: ${notDone}**`,
    violations.length,
    seconds.toFixed(0),
    runOf(by),
  ]),
)}

## Guards taken out

Each is a build of its own with one guard removed. The first run of its fault has to find broken
what the guard is for; anything else that goes wrong in it, and a later run, count for nothing.

${mutants.length} mutants, ${killed} killed.

${table(
  ['mutant', 'fault', 'killed', 'first sign'],
  mutants.map(({ name, scenario, isKilled, seen }) => [
    name,
    scenario,
    isKilled ? 'yes' : '**no**',
    seen,
  ]),
)}

${model ? aboutModel(model) : ''}## Machines

${[...new Set(machines)].join('\n')}
`;
}

const runOf = ({ date, seed, commit }: RunFacts): string =>
  `${date.slice(0, 16)}Z, seed ${seed}, commit ${commit}`;

const aboutModel = ({ summary, broken, by }: Kept<ModelRun>): string => `## The model

${summary} Run: ${runOf(by)}.

${broken.length} broken designs, ${broken.filter((one) => one.hasCounterExample).length} counter-examples:

${broken.map(({ name, hasCounterExample }) => `- ${name}${hasCounterExample ? '' : ': **none found**'}`).join('\n')}

`;

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((row) => `| ${row.map(cell).join(' | ')} |`)
    .join('\n');

/** A table's cell is one line, and short. */
const cell = (value: string | number): string => {
  const line = String(value).replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
};
