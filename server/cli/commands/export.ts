import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { errorMessage } from '#lib/util/error-message';
import type { Command, Context } from '../command.ts';
import { CliError, type ExitName } from '../exit-codes.ts';
import { exportAll } from '../export-history.ts';

export const exportCommand: Command = {
  name: 'export',
  parameters: '<file|->',
  summary: 'Write all runs and calls as NDJSON, newest first, with arguments and results',
  counts: [1, 1],
  options: {
    since: {
      type: 'string',
      value: 'time',
      text: 'only what was made from then on: Unix seconds, or ISO',
    },
    media: { type: 'string', value: 'folder', text: 'save the files of results there' },
  },
  notes: [
    'Each line is {"type": "run", "run": …}, {"type": "message", "message": …} or',
    '{"type": "call", "call": …}, as the HTTP API has them. At its end it prints the time from',
    'which the next export goes on with --since: what is new then, and what was open now.',
  ],
  async run(context) {
    const [file = '-'] = context.args;
    const since = readTime(context);
    return file === '-' ? toStdout(context, since) : toFile(context, file, since);
  },
};

async function toStdout(context: Context, since: number): Promise<ExitName> {
  const summary = await exportAll(context, since, async (line) => {
    if (context.stdout.write(`${line}\n`)) return;
    await new Promise<void>((resume) => context.stdout.once('drain', resume));
  });
  context.out.note(`${lineOf(summary)}`);
  return 'ok';
}

async function toFile(context: Context, file: string, since: number): Promise<ExitName> {
  const path = resolve(context.place.cwd, file);
  // An export that is there already is not replaced.
  const stream = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  const failed = new Promise<never>((_, fail) => stream.once('error', fail));
  failed.catch(() => undefined);
  try {
    const writeLine = async (line: string) => {
      if (stream.write(`${line}\n`)) return;
      await Promise.race([failed, new Promise<void>((resume) => stream.once('drain', resume))]);
    };
    const summary = await exportAll(context, since, writeLine);
    stream.end();
    await Promise.race([failed, finished(stream)]);
    context.out.document({ file: path, ...summary });
    context.out.line(`${lineOf(summary)} Written to ${path}.`);
    return 'ok';
  } catch (error) {
    stream.destroy();
    if (error instanceof CliError || context.signal.aborted) throw error;
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      throw new CliError('usage', `${path} exists already; name a file that does not exist yet`);
    }
    throw new CliError('failed', `${path} cannot be written: ${errorMessage(error)}`);
  }
}

const lineOf = ({ runs, calls, files, next_since: next }: Awaited<ReturnType<typeof exportAll>>) =>
  `${runs} runs, ${calls} calls, ${files} files. The next export: --since ${next}.`;

function readTime(context: Context): number {
  const text = context.text('since');
  if (text === undefined) return 0;
  const seconds = /^\d{1,12}(\.\d{1,6})?$/.test(text) ? Number(text) : Date.parse(text) / 1_000;
  if (Number.isFinite(seconds)) return seconds;
  throw new CliError(
    'usage',
    `--since is ${text}; it must be a time, such as 1767225600 or 2026-01-01T00:00:00Z`,
  );
}
