import type { z } from 'zod';
import { callRecordSchema } from '#lib/protocol/call-record';
import { approvalsPageSchema } from '#lib/protocol/rest';
import { given } from '#lib/util/given';
import type { Command, Context } from '../command.ts';
import { CliError, type ExitName } from '../exit-codes.ts';
import { timeText } from '../output.ts';
import { allOf } from '../reading.ts';

type Approval = z.infer<typeof approvalsPageSchema>['approvals'][number];
const DECISIONS = ['yes', 'no', 'always'] as const;
type Decision = (typeof DECISIONS)[number];

export const approveCommand: Command = {
  name: 'approve',
  parameters: '[call id] [yes|no|always]',
  summary: 'List the calls that wait for a person and decide on them, or decide on one',
  counts: [0, 2],
  options: { note: { type: 'string', value: 'text', text: 'a note to the decision' } },
  notes: ['At a terminal it asks about each; otherwise it lists them.'],
  async run(context) {
    const [id, decision] = context.args;
    if (id === undefined) return listOrAsk(context);
    const known = DECISIONS.find((one) => one === decision);
    if (known === undefined) {
      throw new CliError(
        'usage',
        `${decision ?? 'nothing'} is not a decision; it is yes, no or always`,
      );
    }
    await decide(context, id, { decision: known });
    return 'ok';
  },
};

async function listOrAsk(context: Context): Promise<ExitName> {
  const approvals = await allOf(
    context,
    '/v1/approvals?limit=200',
    approvalsPageSchema,
    (page) => page.approvals,
  );
  if (context.prompt.isThere && approvals.length > 0) return askAbout(context, approvals);
  context.out.document({ approvals });
  const rows = approvals.map((one) => [
    one.tool_call_id,
    one.tool_name,
    one.requested_by ?? '',
    timeText(one.expires_at),
    JSON.stringify(one.args),
  ]);
  const head = ['CALL', 'TOOL', 'ASKED BY', 'UNTIL', 'ARGUMENTS'];
  context.out.table(head, rows, 'No call waits for a decision.');
  return 'ok';
}

/** The decision is for what was shown: a yes to a newer question, or to more calls, is refused. */
async function askAbout(context: Context, approvals: readonly Approval[]): Promise<ExitName> {
  for (const approval of approvals) {
    const { tool_call_id: id, equal_calls: calls, expires_at } = approval;
    printApproval(context, approval, await wholeArgs(context, approval));
    const choices = approval.question ? '[n]o, [s]kip' : '[y]es, [n]o, [a]lways, [s]kip';
    const answer = await context.prompt.ask(`${choices}: `);
    if (answer === null) return 'interrupted';
    const decision = readDecision(answer, approval.question !== undefined);
    if (decision !== undefined) await decide(context, id, { decision, expires_at, calls });
  }
  return 'ok';
}

/** A decision is for all of the arguments, so all of them are shown. */
async function wholeArgs(context: Context, approval: Approval): Promise<unknown> {
  if (!approval.args_bytes) return approval.args;
  const path = `/v1/tool_calls/${encodeURIComponent(approval.tool_call_id)}`;
  return (await context.server().get(path, callRecordSchema)).args;
}

function printApproval({ out }: Context, approval: Approval, args: unknown): void {
  const {
    tool_call_id: id,
    tool_name: tool,
    requested_by: by,
    reason,
    equal_calls: count,
  } = approval;
  out.line();
  out.line(
    `${tool}${approval.client_name ? ` of ${approval.client_name}` : ''}, asked by ${by ?? '?'}`,
  );
  out.line(`  Reason:    ${reason}`);
  out.line(`  Arguments: ${JSON.stringify(args)}`);
  if (count > 1) out.line(`  ${count} equal calls, which one decision decides`);
  if (approval.question) out.line('  A question: its answer is given at its card.');
  out.line(`  Call:      ${id}, until ${timeText(approval.expires_at)}`);
}

function readDecision(answer: string, isQuestion: boolean): Decision | undefined {
  const letter = answer.trim().toLowerCase()[0];
  if (letter === 'n') return 'no';
  if (isQuestion) return undefined;
  return letter === 'y' ? 'yes' : letter === 'a' ? 'always' : undefined;
}

async function decide(
  context: Context,
  id: string,
  body: { decision: Decision; expires_at?: number; calls?: number },
): Promise<void> {
  const path = `/v1/tool_calls/${encodeURIComponent(id)}/approval`;
  const note = context.text('note');
  const call = await context.server().post(path, { ...body, ...given({ note }) }, callRecordSchema);
  context.out.document(call);
  context.out.line(`${call.tool_name}: ${body.decision}. The call is ${call.status}.`);
}
