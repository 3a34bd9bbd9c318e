import type { Call } from '#lib/call/call';
import { cutJson } from '#lib/json/cut-json';
import { fitsJson } from '#lib/json/measure-json';
import type { CallError } from '#lib/protocol/call-status';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { LIMITS } from '#lib/protocol/limits';
import { given } from '#lib/util/given';
import {
  type ClientTool,
  OF_POOL,
  type ProvidedTool,
  StoppedError,
  type ToolAnswer,
  type ToolContext,
  ToolError,
  type ToolProvider,
  type ToolRegistry,
} from '../tools/room.ts';
import type { CallService } from './call-service.ts';
import { isClientTool } from './router.ts';

/** Clients that one call asks. */
const MOST_ASKED = 16;
/** All that clients give has so many bytes of JSON at most; each has the same part of it. */
const MOST_BYTES = 256 * 1024;

export interface AskEachParts {
  readonly calls: Pick<CallService, 'get' | 'invoke' | 'wait' | 'cancel'>;
  readonly registry: Pick<ToolRegistry, 'find'>;
  facts(instanceId: string): { readonly name: string; readonly responsive: boolean } | undefined;
}

interface Asked {
  readonly tool: ClientTool;
  readonly name: string;
  readonly responsive: boolean;
}

/** One client's call ended so; without an id there was none. */
type Answer = {
  readonly client: string;
  readonly client_id: string;
  readonly tool_call_id?: string;
} & (
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly error: Pick<CallError, 'code' | 'message' | 'executed'> }
);

/** Runs `name@all`: each client of the pool gets a call of its own, whose ends are the result (RT60 to RT66). */
export class AskEach implements ToolProvider {
  readonly origin = OF_POOL;
  readonly #parts: AskEachParts;

  constructor(parts: AskEachParts) {
    this.#parts = parts;
  }

  /** Its tools are those of clients, which are listed as theirs. */
  list(): readonly ProvidedTool[] {
    return NONE;
  }

  onChange(): () => void {
    return () => {};
  }

  async execute(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
  ): Promise<ToolAnswer> {
    const parts = this.#parts;
    const parent = await parts.calls.get(context.callId);
    if (!parent) throw new Error(`The call that asks each client of ${name} is gone`);
    const { asked, leftOut } = clientsOf(parts, parent);
    const share = Math.floor(MOST_BYTES / Math.max(asked.length, 1));
    let done = 0;
    const progress = () => context.status({ progress: { done, total: asked.length } });
    progress();
    const results = await Promise.all(
      asked.map(async (one) => {
        const answer = await ask(parts, { parent, one, args, context, share });
        done += 1;
        progress();
        return answer;
      }),
    );
    if (results.every(({ ok }) => !ok)) throw noneAnswered(name, results);
    return { output: { results, ...(leftOut > 0 && { clients_not_asked: leftOut }) } };
  }
}

const NONE: readonly ProvidedTool[] = [];

/** Lists each client once that offers the tool with the schema of the call, in the order in which they are asked. */
function clientsOf({ registry, facts }: AskEachParts, { toolName, routing }: Call) {
  const target = registry.find(toolName, routing.fromClientId);
  const tools = routing.schemaHash === null ? [] : (target?.withSchema(routing.schemaHash) ?? []);
  const byClient = new Map<string, Asked>();
  for (const tool of tools) {
    if (!isClientTool(tool) || byClient.has(tool.clientId)) continue;
    const { name, responsive } = facts(tool.instanceId) ?? { name: '', responsive: false };
    byClient.set(tool.clientId, { tool, name: name || tool.clientId, responsive });
  }
  const all = [...byClient.values()];
  return { asked: all.slice(0, MOST_ASKED), leftOut: Math.max(0, all.length - MOST_ASKED) };
}

interface Asking {
  readonly parent: Call;
  readonly one: Asked;
  readonly args: Readonly<Record<string, unknown>>;
  readonly context: ToolContext;
  /** The result may have so many bytes. */
  readonly share: number;
}

async function ask(parts: AskEachParts, asking: Asking): Promise<Answer> {
  const { parent, one, args, context } = asking;
  const { clientId } = one.tool;
  const who = { client: one.name, client_id: clientId };
  const refused = (code: CallError['code'], message: string): Answer => ({
    ...who,
    ok: false,
    error: { code, message, executed: 'no' },
  });
  if (!one.responsive) return refused('no_provider', 'It does not answer now; it was not asked');
  if (context.signal.aborted) return refused('cancelled', 'Stopped before it was asked');
  const { hasOwnTimeout, fromClientId, via } = parent.routing;
  const outcome = await parts.calls.invoke({
    principal: context.principal,
    tool: parent.toolName,
    runId: parent.runId,
    args,
    clientId,
    parent: { callId: parent.id, depth: parent.depth + 1 },
    ...given({
      fromClientId: fromClientId ?? undefined,
      via,
      traceparent: context.traceparent,
    }),
    ...(hasOwnTimeout && { timeoutMs: parent.timeoutMs }),
  });
  if (!outcome.ok) return refused(REFUSED[outcome.code] ?? 'no_provider', outcome.message);
  const call = await ended(parts, outcome.call, context.signal);
  const ofCall = { ...who, tool_call_id: call.id };
  if (call.status === 'SUCCEEDED') return { ...ofCall, ok: true, ...shownOf(call, asking.share) };
  const { code, message, executed } = call.error ?? LOST;
  return { ...ofCall, ok: false, error: { code, message, executed } };
}

const REFUSED: Readonly<Record<string, CallError['code']>> = {
  invalid_args: 'invalid_args',
  permission_denied: 'denied',
  rate_limited: 'denied',
};

const LOST = { code: 'outcome_unknown', message: 'Its call is gone', executed: 'unknown' } as const;

/** The whole of what is cut is in the record of its call. */
function shownOf({ result, attachments }: Call, share: number) {
  const isCut = !fitsJson(result, share);
  return {
    output: isCut ? cutJson(result, share) : result,
    ...(isCut && { truncated: true }),
    ...(attachments.length > 0 && {
      attachments: attachments.map(({ blob_id, media_type, name }) => ({
        blob_id,
        media_type,
        ...given({ name }),
      })),
    }),
  };
}

/** However long a person takes to decide. What is stopped stops its calls; a server that stops leaves them. */
async function ended({ calls }: AskEachParts, made: Call, signal: AbortSignal): Promise<Call> {
  let call = made;
  while (!isFinalStatus(call.status) && !signal.aborted) {
    call = (await calls.wait(made.id, LIMITS.waitMs, signal)) ?? call;
  }
  if (isFinalStatus(call.status)) return call;
  const { reason } = signal;
  if (!(reason instanceof StoppedError)) throw reason;
  await calls.cancel(made.id, reason.message, 'server', reason.stoppedBy);
  return (await calls.get(made.id)) ?? call;
}

function noneAnswered(name: string, results: readonly Answer[]): ToolError {
  const errors = results.flatMap((one) => (one.ok ? [] : [one]));
  const texts = errors.map(({ client, error }) => `${client}: ${error.code} (${error.message})`);
  const executed = errors.every(({ error }) => error.executed === 'no') ? 'no' : 'yes';
  const message =
    errors.length === 0
      ? `No client offers ${name} now`
      : `None of the clients asked for ${name} gave a result. ${texts.join('; ')}`;
  return new ToolError(message, {
    executed,
    code: errors.length === 0 ? 'no_provider' : 'tool_error',
  });
}
