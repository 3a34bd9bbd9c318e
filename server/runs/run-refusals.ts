import { currentMessages } from '#lib/protocol/current-messages';
import type { Message, RunParent, RunSummary } from '#lib/protocol/run';
import { errorMessage } from '#lib/util/error-message';
import type { Caller } from '../auth/room.ts';
import { StoreFailedError } from '../store/room.ts';
import type { ActiveTurns } from './active-turns.ts';
import { wordsIn } from './agent/turn.ts';
import type { LiveRun } from './live-run.ts';
import type { RunOutcome } from './run-requests.ts';

type Refusal = Extract<RunOutcome, { ok: false }>;

export const refuse = (code: Refusal['code'], message: string): Refusal => ({
  ok: false,
  code,
  message,
});

export const ofSubAgent = ({ run_id, call_id }: RunParent): Refusal =>
  refuse(
    'conflict',
    `The run is that of a sub-agent, which works for the call ${call_id}. Send the message to the run ${run_id}.`,
  );

export const notFound = (runId: string): Refusal =>
  refuse('run_not_found', `There is no run ${JSON.stringify(runId.slice(0, 128))}.`);

export function storeFailed(error: unknown): Refusal {
  if (!(error instanceof StoreFailedError)) throw error;
  return refuse('store_failed', `The run could not be stored: ${errorMessage(error)}`);
}

/** One token has no more, beside the sub-agents that work for them: each takes memory and asks a model. */
const MOST_TURNS = 64;

/** Why a further turn of an agent's run does not begin now (RU43). */
export function tooManyTurns(
  turns: Pick<ActiveTurns, 'activeIds' | 'runOf'>,
  { parent }: Pick<RunSummary, 'parent'>,
  owner: Caller | undefined,
) {
  if (parent || owner?.kind !== 'agent') return undefined;
  const isOwn = (runId: string) => {
    const summary = turns.runOf(runId)?.summary();
    return summary?.owner?.token_id === owner.tokenId && !summary.parent;
  };
  if (turns.activeIds().filter(isOwn).length < MOST_TURNS) return undefined;
  const message = `${MOST_TURNS} turns of your runs are going on. Wait until one has ended.`;
  return refuse('conflict', message);
}

/** A message of a person that is still part of the conversation, and its words. */
export function replaceable(run: LiveRun, messageId: string) {
  const message = currentMessages(run.messages()).find((one) => one.message_id === messageId);
  if (message?.role === 'user')
    return { ok: true as const, text: wordsIn(message), files: filesOf(message) };
  return refuse('bad_request', 'replaces must be a message of a person that was not replaced yet.');
}

const filesOf = ({ parts }: Message) =>
  parts.flatMap((part) => (part.type === 'file' ? [part.file] : []));
