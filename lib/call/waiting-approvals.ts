import type { CallError } from '../protocol/call-status.ts';

/** Questions of one run, or of one program, that wait for a person's decision. */
const OPEN_APPROVALS = 5;
/** The same of all runs that one program began: people ask by them as well, so there may be more. */
const OPEN_OF_OWNER = 20;
/** Calls that wait for one decision, as they are the same. */
const EQUAL_APPROVALS = 100;
/** Questions of one run, or of one program, within a time in milliseconds. */
export const ASKED_WITHIN = { most: 30, ms: 3_600_000 } as const;

/** What people were asked within the last hour. */
export interface AskedLately {
  readonly count: number;
  /** Until one more may be asked; 0 where it may be now. */
  readonly nextInMs: number;
}

/** What waits for a person's decision when a call comes that has to wait, too. */
export interface WaitingApprovals {
  /** Calls of the same question: same run, caller, tool, client, arguments, reason. */
  readonly equal: number;
  /** Questions of its run. */
  readonly ofRun: number;
  /** Questions of its caller, over all runs; 0 for the calls of a run and of a person. */
  readonly ofCaller: number;
  /** Questions of all runs that the program began that owns its run; 0 for those of people. */
  readonly ofOwner: number;
  /** Of its run or its caller, whichever was asked more. */
  readonly lately: AskedLately;
}

/** Why one more call may not wait for a decision (CS9): undefined when it may. For a model. */
export function refusalToAsk(waiting: WaitingApprovals): CallError | undefined {
  const { equal, ofRun, ofCaller, ofOwner, lately } = waiting;
  if (equal >= EQUAL_APPROVALS) {
    return tooMany(`${equal} calls that are the same wait for a person's decision already`);
  }
  if (equal > 0) return undefined;
  const questions = Math.max(ofRun, ofCaller);
  if (questions >= OPEN_APPROVALS || ofOwner >= OPEN_OF_OWNER) {
    const most = Math.max(questions, ofOwner);
    return tooMany(`${most} calls wait for a person's decision already, and no more may`);
  }
  return lately.count >= ASKED_WITHIN.most ? tooOften(lately) : undefined;
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
