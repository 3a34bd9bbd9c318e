import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type KeptReport, mergeReport, type TortureReport, toMarkdown } from './report.ts';

/** Brings `docs/reliability.json`, and the page that is made from it, up to what was just seen. */
export async function keepReport(
  docs: string,
  report: TortureReport,
  known: Parameters<typeof mergeReport>[2],
): Promise<void> {
  const file = join(docs, 'reliability.json');
  const before = existsSync(file)
    ? (JSON.parse(await readFile(file, 'utf8')) as KeptReport)
    : undefined;
  const kept = mergeReport(before, report, known);
  await writeFile(file, `${JSON.stringify(kept, undefined, 2)}\n`);
  await writeFile(join(docs, 'reliability.md'), toMarkdown(kept));
}
