import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { visibleJsonText } from '#lib/format/show-control-characters';
import { callRecordSchema, type ListedCall } from '#lib/protocol/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { callsPageSchema, messagesPageSchema, runsPageSchema } from '#lib/protocol/rest';
import type { RunSummary } from '#lib/protocol/run';
import { errorMessage } from '#lib/util/error-message';
import type { Command, Context } from '../command.ts';
import { CliError, type ExitName } from '../exit-codes.ts';
import { pagesOf } from '../reading.ts';
import { saveBlob } from '../save-attachments.ts';

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

interface ExportSummary {
  runs: number;
  calls: number;
  files: number;
  /** Unix seconds. */
  next_since: number;
}

type WriteLine = (line: string) => Promise<void>;

/** A page of calls has at most 4 MiB, and one page at a time is in memory. */
const PAGE = 100;

/** Runs with their messages, then calls; each newest first, down to `since`. */
async function exportAll(
  context: Context,
  since: number,
  writeLine: WriteLine,
): Promise<ExportSummary> {
  const summary = { runs: 0, calls: 0, files: 0, next_since: since };
  const write = (line: object) => writeLine(visibleJsonText(line, 0));
  await exportRuns(context, since, write, summary);
  await exportCalls(context, since, write, summary);
  return summary;
}

type Write = (line: object) => Promise<void>;

async function exportRuns(
  context: Context,
  since: number,
  write: Write,
  summary: ExportSummary,
): Promise<void> {
  const path = `/v1/runs?limit=${PAGE}`;
  for await (const page of pagesOf(context, path, runsPageSchema)) {
    for (const run of page.runs) {
      // A run that went on is exported anew, whole.
      if (run.updated_at < since) continue;
      await write({ type: 'run', run });
      summary.runs += 1;
      await exportMessages(context, run, write);
    }
  }
}

/** Pages of a run's messages, the newest first; within a page oldest first. */
async function exportMessages(context: Context, run: RunSummary, write: Write): Promise<void> {
  const path = `/v1/runs/${encodeURIComponent(run.run_id)}/messages`;
  for (let before: number | undefined = 0; before !== undefined; ) {
    const query: string = before === 0 ? '' : `?before=${before}`;
    const page = await context.server().get(`${path}${query}`, messagesPageSchema, context.signal);
    for (const message of page.messages) await write({ type: 'message', message });
    before = page.messages_left_out || undefined;
  }
}

async function exportCalls(
  context: Context,
  since: number,
  write: Write,
  summary: ExportSummary,
): Promise<void> {
  let newest = since;
  let oldestOpen = Number.POSITIVE_INFINITY;
  const path = `/v1/tool_calls?limit=${PAGE}&include=args,result`;
  for await (const page of pagesOf(context, path, callsPageSchema)) {
    for (const listed of page.tool_calls) {
      if (listed.created_at < since) return;
      const call = await whole(context, listed);
      await write({ type: 'call', call });
      summary.calls += 1;
      newest = Math.max(newest, call.created_at);
      if (!isFinalStatus(call.status)) oldestOpen = Math.min(oldestOpen, call.created_at);
      summary.files += await saveMedia(context, call);
      // A call that is open now is exported again, once it has ended.
      summary.next_since = Math.min(newest, oldestOpen);
    }
  }
}

/** A list has values beside arguments and result by their beginning; the record has them whole. */
async function whole(context: Context, call: ListedCall) {
  if (!call.truncated) return call;
  const path = `/v1/tool_calls/${encodeURIComponent(call.tool_call_id)}`;
  return context.server().get(path, callRecordSchema, context.signal);
}

async function saveMedia(context: Context, call: Pick<ListedCall, 'attachments'>): Promise<number> {
  const folder = context.text('media');
  if (folder === undefined) return 0;
  for (const attachment of call.attachments) {
    await saveBlob(context, resolve(context.place.cwd, folder), attachment);
  }
  return call.attachments.length;
}
