import type { Call } from './call.ts';
import type { Objection } from './call-state.ts';
import { type Moment, shownAt } from './clocks.ts';

/** A person's yes rests on these, beside the state of the call. */
export interface ApprovalTerms {
  /** It is for the calls that are like it, too. */
  readonly isAlways: boolean;
  /** When the time of the question that was shown ends, in seconds. */
  readonly expiresAt: number | undefined;
  /** How many equal calls were shown to wait for it, and how many do. */
  readonly shownCalls: number | undefined;
  readonly calls: number;
  /** Edited arguments were checked for the call in this version; not there where none are. */
  readonly version?: number | undefined;
  /** Why the policy of this moment, or what the arguments refer to, is against it. */
  readonly objection?: Objection | undefined;
}

/** Why the call, which waits for a person, cannot have this yes; undefined: it can. */
export function againstApproval(
  call: Call,
  terms: ApprovalTerms,
  now: Moment,
): Objection | undefined {
  if (isQuestion(call)) return { refusal: 'unanswered' };
  if (terms.isAlways && !call.card.always_rule?.caller) return { refusal: 'never_always' };
  if (isOlder(terms, call, now)) return { refusal: 'changed_since' };
  const { calls, shownCalls = calls } = terms;
  if (calls > shownCalls) return { refusal: 'more_than_shown' };
  return terms.objection;
}

export const isQuestion = ({ card }: Call): boolean => card.question !== undefined;

/**
 * True when the yes is to a question that has been asked anew since: each has a time of
 * its own, which may be shown in another place since the wall clock was set.
 */
function isOlder({ expiresAt, version }: ApprovalTerms, call: Call, now: Moment): boolean {
  if (version !== undefined && version !== call.version) return true;
  return (
    expiresAt !== undefined &&
    ![call, shownAt(call, now)].some(({ card }) => card.clock?.deadline_at === expiresAt)
  );
}
