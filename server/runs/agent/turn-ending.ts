import type { Call } from '#lib/call/call';
import { isRecord } from '#lib/json/is-record';
import type { Message } from '#lib/protocol/run';
import type { ToolRegistry } from '../../tools/room.ts';
import { type MessageWriter, OWNER_REVOKED, type TurnEnd, WorkNotWanted } from './agent.ts';
import type { TurnError } from './describe-model-error.ts';
import { failure, type Notice, notice, stopped } from './notices.ts';
import { hasCalls, messagesRead, namedCalls, type Turn } from './turn.ts';
import type { CountedTool, TurnProgress } from './turn-progress.ts';

/** Why a turn makes no further calls. */
export interface Ending {
  readonly notice: Notice;
  /** What the model reads, to answer once more without tools; undefined where it is not asked again. */
  readonly words: string | undefined;
}

interface Progress extends Pick<TurnProgress, 'stuck' | 'timedOut' | 'cut'> {
  readonly failing: CountedTool | undefined;
}

/** Decides before each step whether it is one that may call tools (AL3, AL121 to AL123, AL127). */
export function endingOf(
  turn: Turn,
  { stuck, timedOut, cut, failing }: Progress,
  step: number,
): Ending | undefined {
  if (timedOut) return { notice: notice('tool_timeouts', ofTool(timedOut)), words: undefined };
  if (cut) return { notice: notice('arguments_cut', ofTool(cut)), words: undefined };
  if (failing) return { notice: notice('tool_failures', ofTool(failing)), words: undefined };
  if (stuck) {
    const words = `You called ${stuck.toolName} ${stuck.count} times with the same arguments and the same result, and cannot call tools any more.`;
    return { notice: notice('repeated_calls', ofTool(stuck)), words };
  }
  const { maxSteps } = turn.deps;
  if (step > maxSteps) {
    const words = `You have used all ${maxSteps} steps and cannot call tools any more.`;
    return { notice: notice('step_limit', { steps: maxSteps }), words };
  }
  const spent = turn.spending.spent(turn.deps.clock.now() / 1000);
  if (!spent) return undefined;
  const words = `The limit of ${spent.limit} ${spent.unit} of this turn is reached, and you cannot call tools any more.`;
  return { notice: notice(`budget_${spent.unit}`, { limit: spent.limit }), words };
}

const ofTool = ({ toolName: tool, count }: CountedTool) => ({ tool, count });

/** Whether a call of the tool, where it succeeds, is the last one of its turn. */
export function endsTurn(registry: Pick<ToolRegistry, 'find'>, toolName: string): boolean {
  const tool = registry.find(toolName)?.best;
  return tool?.clientId === null && tool.endsTurn === true;
}

/** With what words the newest call has ended the turn (AL160); undefined where none has. */
export function completedWith(turn: Turn, records: readonly Call[]): string | undefined {
  const messages = messagesRead(turn);
  const last = messages.findLast((message) => !isNoticeAlone(message));
  if (!last || !hasCalls(last)) return undefined;
  const [id, ...others] = namedCalls([last]);
  const call = others.length === 0 ? records.find((record) => record.id === id) : undefined;
  if (call?.status !== 'SUCCEEDED' || call.source !== 'server') return undefined;
  if (!endsTurn(turn.deps.registry, call.toolName)) return undefined;
  return typeof call.display === 'string' ? call.display : '';
}

/** As a restart writes one between the call and what follows it. */
const isNoticeAlone = ({ role, parts }: Message): boolean =>
  role === 'assistant' && parts.every(({ type }) => type === 'notice');

/** The end of a turn, with the notice that says it to people. */
export interface NotedEnd {
  readonly notice: Notice;
  readonly end: TurnEnd;
}

export const failedEnd = (error: TurnError): NotedEnd => ({
  notice: failure(error),
  end: { status: 'failed', error },
});

export const REVOKED: TurnError = {
  code: 'owner_revoked',
  message: 'The token of the owner of this run was revoked; nothing more is done in its name.',
};

/** Of a turn that was stopped, but not by the end of the server. */
export const stoppedEnd = (signal: AbortSignal): NotedEnd =>
  signal.reason === OWNER_REVOKED
    ? failedEnd(REVOKED)
    : { notice: stopped(stopperOf(signal)), end: { status: 'cancelled' } };

/** The notice is the last that the turn writes. */
export async function endWith(writer: MessageWriter, { notice, end }: NotedEnd): Promise<TurnEnd> {
  writer.addNotice(notice);
  await writer.end();
  return end;
}

/** The name of who stopped the turn, where that is known. */
export function stopperOf({ reason }: AbortSignal): string | undefined {
  const by: unknown = isRecord(reason) ? reason.stoppedBy : undefined;
  return typeof by === 'string' ? by : undefined;
}

/** Why the calls of such a turn are cancelled. */
export const stoppedWords = ({ reason }: AbortSignal): string =>
  reason instanceof WorkNotWanted ? reason.message : 'The run was stopped.';
