import { runsPageSchema } from '#lib/protocol/rest';
import { type Message, runRecordSchema } from '#lib/protocol/run';
import type { Command, Context } from '../command.ts';
import { timeText } from '../output.ts';
import { allOf, readCount } from '../reading.ts';

const PAGE = 200;

export const runsCommand: Command = {
  name: 'runs',
  parameters: '[run id]',
  summary: 'List the newest runs, or show one with its newest messages',
  counts: [0, 1],
  options: { limit: { type: 'string', value: 'count', text: 'how many runs; 20 when not given' } },
  async run(context) {
    const [id] = context.args;
    if (id !== undefined) await printOne(context, id);
    else await printAll(context);
    return 'ok';
  },
};

async function printAll(context: Context): Promise<void> {
  const { out } = context;
  const most = readCount(context, 'limit') ?? 20;
  const path = `/v1/runs?limit=${Math.min(PAGE, most)}`;
  const runs = await allOf(context, path, runsPageSchema, (page) => page.runs, most);
  out.document({ runs });
  const rows = runs.map((run) => [
    run.run_id,
    run.status,
    run.model ?? 'outside',
    timeText(run.updated_at),
    run.title,
  ]);
  out.table(['RUN', 'STATUS', 'MODEL', 'CHANGED', 'TITLE'], rows, 'There is no run yet.');
}

async function printOne({ out, server }: Context, id: string): Promise<void> {
  const run = await server().get(`/v1/runs/${encodeURIComponent(id)}`, runRecordSchema);
  out.document(run);
  out.line(`${run.run_id}  ${run.status}  ${run.model ?? 'outside'}  ${run.title}`);
  if (run.error) out.line(`Error: ${run.error.message}`);
  if (run.messages_left_out) out.line(`(${run.messages_left_out} older messages are not shown)`);
  for (const message of run.messages) {
    out.line();
    out.line(`${message.role}, ${timeText(message.created_at)}`);
    for (const part of message.parts) out.text(partText(part));
  }
}

function partText(part: Message['parts'][number]): string {
  if (part.type === 'tool_call') return `[call ${part.tool_call_id}]`;
  if (part.type === 'reasoning') return `(${part.text})`;
  if (part.type === 'file') return `[file ${part.file.name ?? part.file.media_type}]`;
  return part.text;
}
