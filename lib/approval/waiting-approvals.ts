import type { CallError } from '../protocol/call-status.ts';

/** All runs that one program began have so many times more: people ask by them as well. */
const TIMES_OF_OWNER = 4;
/** Questions of one run, or of one program, that wait for their turn to be shown. */
const HELD_APPROVALS = 50;
/** Calls that wait for one decision, as they are the same. */
const EQUAL_APPROVALS = 100;
/** Questions of one run, or of one program, within a time in milliseconds. */
export const ASKED_WITHIN = { most: 30, ms: 3_600_000 } as const;

/** People were asked so often within the last hour. */
export interface AskedLately {
  readonly count: number;
  /** Until one more may be asked; 0 where it may be now. */
  readonly nextInMs: number;
}

/** These wait for a person's decision when a call comes that has to wait, too. */
export interface WaitingApprovals {
  /** Calls of the same question: same run, caller, tool, client, arguments, reason. */
  readonly equal: number;
  /** The equal ones wait for their turn. */
  readonly isEqualHeld: boolean;
  /** So many questions of a run, or of a program, are shown at once. */
  readonly atOnce: number;
  /** Questions of its run. */
  readonly ofRun: number;
  /** Questions of its caller, over all runs; 0 for the calls of a run and of a person. */
  readonly ofCaller: number;
  /** Questions of all runs that the program began that owns its run; 0 for those of people. */
  readonly ofOwner: number;
  /** Questions that wait for their turn: of its run, its caller or its owner, whichever has more. */
  readonly held: number;
  /** It is that of its run or its caller, whichever was asked more. */
  readonly lately: AskedLately;
}

type Shown = Pick<WaitingApprovals, 'ofRun' | 'ofCaller' | 'ofOwner' | 'atOnce'>;

/** True when one more question may be shown. */
export const hasRoom = ({ ofRun, ofCaller, ofOwner, atOnce }: Shown): boolean =>
  Math.max(ofRun, ofCaller) < atOnce && ofOwner < atOnce * TIMES_OF_OWNER;

/** One more call that has to wait for a decision (CS9) is shown, held, or refused with the reason. */
export function toAsk(waiting: WaitingApprovals): 'approval' | 'held' | CallError {
  const { equal, isEqualHeld, held, lately } = waiting;
  if (equal >= EQUAL_APPROVALS) {
    return tooMany(`${equal} calls that are the same wait for a person's decision already`);
  }
  if (equal > 0) return isEqualHeld ? 'held' : 'approval';
  // No call overtakes those that wait for their turn.
  const isNext = held === 0 && hasRoom(waiting);
  if (!isNext && held >= HELD_APPROVALS) {
    const shown = Math.max(waiting.ofRun, waiting.ofCaller, waiting.ofOwner);
    return tooMany(
      `${shown} calls wait for a person's decision and ${held} more for their turn already, and no more may`,
    );
  }
  if (lately.count >= ASKED_WITHIN.most) return tooOften(lately);
  return isNext ? 'approval' : 'held';
}

const tooMany = (what: string): CallError => ({
  code: 'denied',
  message: `${what}, so this one was not run. Wait for the decisions on those; do not repeat the call before.`,
  executed: 'no',
  reason: 'too_many_approvals',
});

const tooOften = ({ count, nextInMs }: AskedLately): CallError => ({
  code: 'denied',
  message: `People were asked ${count} questions within an hour, and the next may be asked in ${Math.ceil(nextInMs / 60_000)} min, so this call was not run. Go on without it; do not repeat the call before.`,
  executed: 'no',
  reason: 'approval_rate',
});
