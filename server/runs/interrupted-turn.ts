import { INFORMING_NOTICES, NOTICES_OF_GOOD_ENDS } from '#lib/protocol/notice-codes';
import type { Message } from '#lib/protocol/run';
import type { TurnEnd } from './agent/agent.ts';
import { hasCalls, isEmptyAnswer, ofLastTurn } from './agent/turn-messages.ts';

/** The notice of a turn that was taken up after a restart. */
export const RESTARTED = 'restarted';

const GOES_ON: ReadonlySet<string> = new Set(INFORMING_NOTICES);
const ENDED_WELL: ReadonlySet<string> = new Set(NOTICES_OF_GOOD_ENDS);

/** A step that brings the server down is not tried for ever. */
const MOST_TAKE_UPS = 3;

/** The notice at a turn's end, if it has one: beside others it goes on. */
const noticeOf = ({ parts }: Message) =>
  parts.filter((part) => part.type === 'notice').findLast(({ code }) => !GOES_ON.has(code));

const isTakeUp = (message: Message): boolean => noticeOf(message)?.code === RESTARTED;

/** The end of a turn whose last message is on disk, and whose own end is not. Pure, as all here. */
export function endedTurn(messages: readonly Message[]): TurnEnd | undefined {
  const last = ofLastTurn(messages).at(-1);
  if (!last || isTakeUp(last)) return undefined;
  const notice = noticeOf(last);
  if (!notice) return hasCalls(last) || isEmptyAnswer(last) ? undefined : { status: 'idle' };
  if (notice.code === 'cancelled') return { status: 'cancelled' };
  if (ENDED_WELL.has(notice.code)) return { status: 'idle' };
  const { code, text, params } = notice;
  const error = { code, message: text, ...(params === undefined ? {} : { params }) };
  return { status: 'failed', error };
}

/** Steps of the turn that are on disk, with calls or empty; they count towards its limit. */
export const stepsDone = (messages: readonly Message[]): number =>
  ofLastTurn(messages).filter((message) => hasCalls(message) || isEmptyAnswer(message)).length;

/** False when the turn was taken up three times without finishing a step. */
export function canGoOn(messages: readonly Message[]): boolean {
  const turn = ofLastTurn(messages);
  const lastStep = turn.findLastIndex((message) => !isTakeUp(message));
  return turn.length - 1 - lastStep < MOST_TAKE_UPS;
}
