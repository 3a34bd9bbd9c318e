import { mkdirSync, readdirSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { formatBytes } from '#lib/format/format-bytes';
import { errorMessage } from '#lib/util/error-message';
import type { Command } from '../command.ts';
import { copyDataDir } from '../copy-data-dir.ts';
import { CliError } from '../exit-codes.ts';

export const backupCommand: Command = {
  name: 'backup',
  parameters: '<folder>',
  summary:
    'Copy the data directory into an empty folder, also while the server runs, and verify it',
  counts: [1, 1],
  notes: [
    'The copy has the history, the files of results, the keys and the operator token: keep it as',
    'safe as the original. To restore it, start with CALLBOARD_DATA_DIR set to a copy of it.',
  ],
  async run({ args, out, place, dataDir, signal }) {
    const to = resolve(place.cwd, args[0] ?? '');
    const from = dataDir().dir;
    makeEmpty(to);
    const copied = await copyDataDir({ from, to, signal });
    const parts = copied.toSorted((a, b) => b.bytes - a.bytes);
    out.document({ from, to, parts });
    for (const { name, bytes, files } of parts) out.line(lineOf(name, bytes, files));
    out.line(`The copy of ${from} is in ${to}; its database was verified.`);
    return 'ok';
  },
};

const lineOf = (name: string, bytes: number, files: number): string =>
  `${formatBytes(bytes, 'en').padStart(12)}  ${name}${files === 1 ? '' : ` (${files} files)`}`;

function makeEmpty(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (readdirSync(folder).length === 0) return;
  } catch (error) {
    throw new CliError('failed', `${folder} cannot be used: ${errorMessage(error)}`);
  }
  throw new CliError(
    'usage',
    `${folder} is not empty; name a folder that is empty, or not there yet, such as ${basename(folder)}-2`,
  );
}
