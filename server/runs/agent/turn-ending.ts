import {
  argumentsCut,
  budgetSpent,
  type Notice,
  repeatedCalls,
  stepLimit,
  toolTimeouts,
} from './notices.ts';
import type { Turn } from './turn.ts';
import type { TurnProgress } from './turn-progress.ts';

/** Why a turn makes no further calls. */
export interface Ending {
  readonly notice: Notice;
  /** What the model reads, to answer once more without tools; undefined where it is not asked again. */
  readonly words: string | undefined;
}

/** Decides before each step whether it is one that may call tools (AL3, AL121 to AL123). */
export function endingOf(turn: Turn, progress: TurnProgress, step: number): Ending | undefined {
  const { stuck, timedOut, cut } = progress;
  if (timedOut)
    return { notice: toolTimeouts(timedOut.toolName, timedOut.count), words: undefined };
  if (cut) return { notice: argumentsCut(cut.toolName, cut.count), words: undefined };
  if (stuck) {
    const words = `You called ${stuck.toolName} ${stuck.count} times with the same arguments and the same result, and cannot call tools any more.`;
    return { notice: repeatedCalls(stuck.toolName, stuck.count), words };
  }
  const { maxSteps } = turn.deps;
  if (step > maxSteps) {
    const words = `You have used all ${maxSteps} steps and cannot call tools any more.`;
    return { notice: stepLimit(maxSteps), words };
  }
  const spent = turn.spending.spent(turn.deps.clock.now() / 1000);
  if (!spent) return undefined;
  const words = `The limit of ${spent.limit} ${spent.unit} of this turn is reached, and you cannot call tools any more.`;
  return { notice: budgetSpent(spent.unit, spent.limit), words };
}
