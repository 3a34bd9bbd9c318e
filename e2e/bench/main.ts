/**
 * `npm run bench`: every hot path against a raw baseline of the same run. Prints
 * a table of ratios and one line of JSON. Times differ between machines and
 * hours; ratios of one run are what to look at.
 *
 *   npm run bench                 everything but the history and the memory
 *   npm run bench -- calls cards  some of it (calls, watchers, doors, mcp, stalls, cards)
 *   npm run bench -- memory       of 200,000 calls and of 500 results of 8 MiB; only when it is named
 *   npm run bench -- history      over 1,000,000 calls; only when it is named
 *   npm run bench -- calls --against a47a9b6   a call beside one of that commit, alone
 */

import { describeMachine } from '../support/describe-machine.ts';
import { benchAgainst } from './against-bench.ts';
import { benchCalls } from './calls-bench.ts';
import { benchCards } from './cards-bench.ts';
import { benchDoors } from './doors-bench.ts';
import { benchHistory } from './history-bench.ts';
import { benchMcp } from './mcp-bench.ts';
import { benchMemory } from './memory-bench.ts';
import { benchStalls } from './stalls-bench.ts';
import type { Ratio } from './stats.ts';
import { benchWatchers } from './watchers-bench.ts';

const PARTS: Record<string, () => Promise<{ ratios: Ratio[]; detail: object }>> = {
  calls: benchCalls,
  watchers: benchWatchers,
  history: benchHistory,
  doors: benchDoors,
  mcp: benchMcp,
  memory: benchMemory,
  stalls: benchStalls,
  cards: () => benchCards(process.env.CALLBOARD_CHROMIUM ?? 'chromium'),
};

/** They take minutes. */
const ONLY_NAMED = ['history', 'memory'];

const words = process.argv.slice(2);
const against = words.indexOf('--against');
const commit = against < 0 ? undefined : words.splice(against, 2)[1];
const wanted = words.filter((word) => !word.startsWith('-'));
const stranger = wanted.find((word) => !(word in PARTS));
if (stranger !== undefined) {
  console.error(`There is no part "${stranger}": it may be ${Object.keys(PARTS).join(', ')}`);
  process.exit(1);
}

const results: Record<string, { ratios: Ratio[]; detail: object }> = {};
if (commit !== undefined) {
  process.stderr.write(`Measuring: calls against ${commit}\n`);
  results.against = await benchAgainst(commit);
}
for (const [name, run] of commit === undefined ? Object.entries(PARTS) : []) {
  if (wanted.length > 0 ? !wanted.includes(name) : ONLY_NAMED.includes(name)) continue;
  process.stderr.write(`Measuring: ${name}\n`);
  results[name] = await run();
}

const rows = Object.values(results).flatMap(({ ratios }) => ratios);
for (const { name, ours, raw, unit, ratio, target, met } of rows) {
  const figures = `${ours} against ${raw} ${unit}`;
  console.log(
    `${met === undefined ? '      ' : met ? 'met   ' : 'missed'}  ${String(ratio).padStart(7)} ×  ${(target && `(${target})`).padEnd(10)}  ${name}: ${figures}`,
  );
}
console.log(
  JSON.stringify({ date: new Date().toISOString(), machine: describeMachine(), results }),
);
process.exit(0);
