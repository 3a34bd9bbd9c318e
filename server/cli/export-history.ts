import { resolve } from 'node:path';
import { visibleJsonText } from '#lib/format/show-control-characters';
import type { ListedCall } from '#lib/protocol/call-record';
import { callRecordSchema } from '#lib/protocol/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { callsPageSchema, messagesPageSchema, runsPageSchema } from '#lib/protocol/rest';
import type { RunSummary } from '#lib/protocol/run';
import type { Context } from './command.ts';
import { pagesOf } from './pages.ts';
import { saveBlob } from './save-attachments.ts';

export interface ExportSummary {
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
export async function exportAll(
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
