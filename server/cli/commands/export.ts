import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { visibleJsonText } from '#lib/format/show-control-characters';
import { callRecordSchema, type ListedCall } from '#lib/protocol/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { callsPageSchema, messagesPageSchema, runsPageSchema } from '#lib/protocol/rest';
import type { RunSummary } from '#lib/protocol/run';
import { errorMessage } from '#lib/util/error-message';
import type { Command, Context } from '../command.ts';
import { CliError } from '../exit-codes.ts';
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
    const summary = { runs: 0, calls: 0, files: 0, next_since: readTime(context) };
    const lines = Readable.from(linesOf(context, summary));
    if (file === '-') {
      await pipeline(lines, context.stdout, { end: false });
      context.out.note(textOf(summary));
      return 'ok';
    }
    const path = resolve(context.cwd, file);
    await writeNew(path, lines, context.signal);
    context.out.document({ file: path, ...summary });
    context.out.line(`${textOf(summary)} Written to ${path}.`);
    return 'ok';
  },
};

/** An export that is there already is not replaced. */
async function writeNew(path: string, lines: Readable, signal: AbortSignal): Promise<void> {
  try {
    await pipeline(lines, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    if (error instanceof CliError || signal.aborted) throw error;
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      throw new CliError('usage', `${path} exists already; name a file that does not exist yet`);
    }
    throw new CliError('failed', `${path} cannot be written: ${errorMessage(error)}`);
  }
}

interface ExportSummary {
  runs: number;
  calls: number;
  files: number;
  /** Unix seconds; from when it is exported, and at the end from when the next export goes on. */
  next_since: number;
}

const textOf = ({ runs, calls, files, next_since: next }: ExportSummary): string =>
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

/** A page of calls has at most 4 MiB, and one page at a time is in memory. */
const PAGE = 100;

async function* linesOf(context: Context, summary: ExportSummary): AsyncGenerator<string> {
  for await (const line of exported(context, summary)) yield `${visibleJsonText(line, 0)}\n`;
}

/** Runs with their messages, then calls; each newest first, down to the time of the summary. */
async function* exported(context: Context, summary: ExportSummary): AsyncGenerator<object> {
  const { next_since: since } = summary;
  for await (const page of pagesOf(context, `/v1/runs?limit=${PAGE}`, runsPageSchema)) {
    for (const run of page.runs) {
      // A run that went on is exported anew, whole.
      if (run.updated_at < since) continue;
      yield { type: 'run', run };
      summary.runs += 1;
      yield* messagesOf(context, run);
    }
  }
  yield* callsFrom(context, since, summary);
}

/** Pages of a run's messages, the newest first; within a page oldest first. */
async function* messagesOf(context: Context, run: RunSummary): AsyncGenerator<object> {
  const path = `/v1/runs/${encodeURIComponent(run.run_id)}/messages`;
  for (let before: number | undefined = 0; before !== undefined; ) {
    const query: string = before === 0 ? '' : `?before=${before}`;
    const page = await context.server().get(`${path}${query}`, messagesPageSchema, context.signal);
    for (const message of page.messages) yield { type: 'message', message };
    before = page.messages_left_out || undefined;
  }
}

async function* callsFrom(
  context: Context,
  since: number,
  summary: ExportSummary,
): AsyncGenerator<object> {
  let newest = since;
  let oldestOpen = Number.POSITIVE_INFINITY;
  const path = `/v1/tool_calls?limit=${PAGE}&include=args,result`;
  for await (const page of pagesOf(context, path, callsPageSchema)) {
    for (const listed of page.tool_calls) {
      if (listed.created_at < since) return;
      const call = await whole(context, listed);
      yield { type: 'call', call };
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
    await saveBlob(context, resolve(context.cwd, folder), attachment);
  }
  return call.attachments.length;
}
