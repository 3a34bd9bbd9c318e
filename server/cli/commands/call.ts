import { setTimeout as sleep } from 'node:timers/promises';
import {
  callRecordSchema,
  type WireCallEvent,
  type WireCallRecord,
} from '#lib/protocol/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { LIMITS } from '#lib/protocol/limits';
import { callEventsPageSchema, invokeAcceptedSchema } from '#lib/protocol/rest';
import { given } from '#lib/util/given';
import { randomId } from '#lib/util/random-id';
import type { Command, Context } from '../command.ts';
import { CliError, type ExitName } from '../exit-codes.ts';
import { readSeconds } from '../reading.ts';
import { saveAttachments } from '../save-attachments.ts';

export const callCommand: Command = {
  name: 'call',
  parameters: '<tool> [json]',
  summary:
    'Call a tool, wait for its end, and print the result; "-" reads the arguments from stdin',
  counts: [1, 2],
  options: {
    watch: { type: 'boolean', text: 'print what happens to the call, event by event' },
    client: { type: 'string', value: 'client id', text: 'the only client that may take it' },
    run: { type: 'string', value: 'run id', text: 'the run of the call; a new one when not given' },
    timeout: {
      type: 'string',
      value: 'seconds',
      text: 'how long to wait; until its end by default',
    },
    out: { type: 'string', value: 'folder', text: 'save the files of the result there' },
  },
  notes: [
    'With --json it prints the record of the call; with --watch and --json a line of JSON for',
    'each event, {"event": …}, and the record as the last one, {"call": …}.',
  ],
  async run(context) {
    const id = await invoke(context);
    const call = await untilFinal(context, id);
    if (call === undefined) return stillOpen(context, id);
    if (context.flag('watch') && context.out.isJson) context.out.jsonLine({ call });
    else context.out.document(call);
    printResult(context, call);
    await saveAttachments(context, call.attachments);
    return call.error === null && call.status === 'SUCCEEDED' ? 'ok' : 'callError';
  },
};

/** Asked again after a line that broke, it is the same call. */
async function invoke(context: Context): Promise<string> {
  const [tool = '', json = '{}'] = context.args;
  const { tool_call_id: id } = await context.server().send(
    {
      method: 'POST',
      path: `/v1/tools/${encodeURIComponent(tool)}/invoke`,
      headers: { 'idempotency-key': randomId() },
      body: {
        run_id: context.text('run') ?? `run_cli_${randomId().slice(0, 16)}`,
        args: parseArgs(json === '-' ? await context.readInput() : json),
        ...given({ client: context.text('client') }),
      },
      signal: context.signal,
    },
    invokeAcceptedSchema,
  );
  return id;
}

function parseArgs(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new CliError(
      'usage',
      `the arguments are not JSON (${String(error)}); they are one object, such as '{"city": "Oslo"}'`,
    );
  }
}

/** Undefined: the time was over first. */
async function untilFinal(context: Context, id: string): Promise<WireCallRecord | undefined> {
  const timeoutMs = readSeconds(context, 'timeout');
  const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
  const isWatched = context.flag('watch');
  if (isWatched) await followEvents(context, id, deadline);
  let isNoted = isWatched;
  for (;;) {
    // The first answer comes soon, so that a call that waits for a person is reported soon.
    const longest = isNoted ? LIMITS.waitMs : 1_000;
    const waitMs = Math.max(0, Math.min(longest, deadline - Date.now()));
    const call = await context
      .server()
      .get(`/v1/tool_calls/${id}?wait_ms=${waitMs}`, callRecordSchema, context.signal);
    if (isFinalStatus(call.status)) return call;
    if (!isNoted) noteWaiting(context, call);
    isNoted = true;
    if (Date.now() >= deadline) return undefined;
  }
}

function noteWaiting({ out }: Context, { tool_call_id: id, phase }: WireCallRecord): void {
  if (phase !== 'approval') return;
  out.note(`The call waits for a person: "callboard approve ${id} yes" (or no), or its card.`);
}

function stillOpen({ out }: Context, id: string): ExitName {
  out.document({ tool_call_id: id, status: 'open' });
  out.note(`The call ${id} goes on; the time to wait for it was over.`);
  return 'waiting';
}

/** The model's view of the result on stdout: text as it is, else JSON. */
function printResult({ out }: Context, call: WireCallRecord): void {
  if (call.status !== 'SUCCEEDED') {
    const { code, message, executed } = call.error ?? {
      code: call.status,
      message: '',
      executed: 'unknown',
    };
    out.note(`ERROR ${code}: ${message} (executed: ${executed})`);
    return;
  }
  const { result } = call;
  out.text(typeof result === 'string' ? result : JSON.stringify(result ?? null, null, 2));
}

/** Between two looks at a call that is open. */
const LOOK_MS = 250;

/** Prints each event of a call once, in order, until the one that ends it or the deadline. */
async function followEvents(context: Context, id: string, deadline: number): Promise<void> {
  let after = 0;
  while (Date.now() < deadline) {
    const path = `/v1/tool_calls/${id}/events?after=${after}&limit=200`;
    const page = await context.server().get(path, callEventsPageSchema, context.signal);
    for (const event of page.events) printEvent(context, event);
    if (page.events.some(isEnd)) return;
    after = page.events.at(-1)?.version ?? after;
    if (page.next_after === null) await sleep(LOOK_MS, undefined, { signal: context.signal });
  }
}

const isEnd = ({ update: { status } }: WireCallEvent): boolean =>
  status === 'SUCCESS' || status === 'ERROR';

function printEvent({ out }: Context, event: WireCallEvent): void {
  if (out.isJson) return out.jsonLine({ event });
  const { status, phase, tip, progress } = event.update;
  const done = progress && `${progress.done}${progress.total ? `/${progress.total}` : ''}`;
  const time = new Date(event.at * 1_000).toISOString().slice(11, 23);
  out.note([time, event.type, event.actor, status, phase, tip, done].filter(Boolean).join('  '));
}
