import type { Message } from '#lib/protocol/run';
import type { TurnEnd } from './agent/agent.ts';
import { INFORMING } from './agent/notices.ts';

/** The notice of a turn that was taken up after a restart. */
export const RESTARTED = 'restarted';

/** A step that brings the server down is not tried for ever. */
const MOST_TAKE_UPS = 3;

/** Notices of turns that ended well. */
const NO_FAILURES = new Set(['step_limit', 'answer_cut', 'answer_filtered']);

/** What was written since the person's last message. All of it is whole: half messages are never stored. */
const ofLastTurn = (messages: readonly Message[]): readonly Message[] =>
  messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);

/** The notice at a turn's end, if it has one: beside others it goes on. */
const noticeOf = ({ parts }: Message) =>
  parts.filter((part) => part.type === 'notice').findLast(({ code }) => !INFORMING.has(code));

const hasCalls = ({ parts }: Message): boolean => parts.some((part) => part.type === 'tool_call');

const isTakeUp = (message: Message): boolean => noticeOf(message)?.code === RESTARTED;

/** The end of a turn whose last message is on disk, and whose own end is not. Pure, as all here. */
export function endedTurn(messages: readonly Message[]): TurnEnd | undefined {
  const last = ofLastTurn(messages).at(-1);
  if (!last || isTakeUp(last)) return undefined;
  const notice = noticeOf(last);
  if (!notice) return hasCalls(last) ? undefined : { status: 'idle' };
  if (notice.code === 'cancelled') return { status: 'cancelled' };
  if (NO_FAILURES.has(notice.code)) return { status: 'idle' };
  const { code, text, params } = notice;
  const error = { code, message: text, ...(params === undefined ? {} : { params }) };
  return { status: 'failed', error };
}

export const namedCalls = (messages: readonly Message[]): ReadonlySet<string> =>
  new Set(
    messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'tool_call' ? [part.tool_call_id] : [])),
    ),
  );

/** Steps of the turn whose calls are on disk; they count towards its limit. */
export const stepsDone = (messages: readonly Message[]): number =>
  ofLastTurn(messages).filter(hasCalls).length;

/** False when the turn was taken up three times without finishing a step. */
export function canGoOn(messages: readonly Message[]): boolean {
  const turn = ofLastTurn(messages);
  const lastStep = turn.findLastIndex((message) => !isTakeUp(message));
  return turn.length - 1 - lastStep < MOST_TAKE_UPS;
}
