import type { RunRecord } from '#lib/protocol/run';
import { ownsRun } from '../../auth/room.ts';
import { type DoorOutcome, type DoorRuns, NOT_OWN, type Talk } from '../room.ts';
import { type ErrorCode, type ErrorFrame, errorFrame, type ServerFrame } from './chat-frames.ts';

export const MISMATCH = errorFrame(
  'SESSION_OWNER_MISMATCH',
  'This session belongs to another token. Begin one under another session_id.',
);

/** One session, one run; an app may call its sessions anything. */
export const idOfSession = (runs: DoorRuns, sessionId: string): string =>
  runs.idOf('clawseed', sessionId);

interface ChatMessage {
  readonly content: string;
  /** The title of a run that is not there yet. */
  readonly title: string;
  readonly clientId: string | undefined;
}

/** Sends a message of the person. Gives the frame of a refusal, or nothing. */
export async function sendChat(
  runs: DoorRuns,
  talk: Talk,
  { content, title, clientId }: ChatMessage,
): Promise<ErrorFrame | undefined> {
  const before = await runs.get(talk.runId);
  if (before && !ownsRun(talk.caller, before)) return MISMATCH;
  return refusalOf(await runs.send(talk, before, { title, input: content, more: by(clientId) }));
}

/** Asks for another answer to the last message of the person. */
export async function regenerate(
  runs: DoorRuns,
  talk: Talk,
  clientId: string | undefined,
): Promise<ErrorFrame | undefined> {
  const run = await runs.get(talk.runId);
  const last = lastAsked(run);
  if (!run || !last) return errorFrame('NO_USER_MESSAGE', 'There is no message to answer again.');
  const more = { ...by(clientId), replaces: last.message_id };
  const outcome = await runs.send(talk, run, { title: '', more });
  if (outcome.ok) {
    await runs.record(talk, 'message_replaced', { message_id: last.message_id, edited: false });
  }
  return refusalOf(outcome);
}

/** The turn's own end follows as an event. */
export async function abort(
  runs: DoorRuns,
  talk: Talk,
  send: (frame: ServerFrame) => void,
): Promise<ErrorFrame | undefined> {
  const run = await runs.get(talk.runId);
  const isRunning = run?.status === 'running';
  send({ type: 'abort_ack', status: isRunning ? 'aborted' : 'no_active_response' });
  return isRunning ? refusalOf(await runs.stop(talk)) : undefined;
}

const lastAsked = (run: RunRecord | undefined) =>
  run?.messages.findLast(({ role }) => role === 'user');

const by = (clientId: string | undefined) => (clientId === undefined ? {} : { clientId });

const CODES: Record<
  Exclude<Extract<DoorOutcome, { ok: false }>['code'], typeof NOT_OWN>,
  ErrorCode
> = {
  // Too many messages wait, or the turn is being stopped.
  conflict: 'SESSION_BUSY',
  bad_request: 'INVALID_MESSAGE',
  run_not_found: 'SESSION_BIND_FAILED',
  shutting_down: 'SHUTTING_DOWN',
  store_failed: 'STORE_FAILED',
};

function refusalOf(outcome: DoorOutcome): ErrorFrame | undefined {
  if (outcome.ok) return undefined;
  return outcome.code === NOT_OWN ? MISMATCH : errorFrame(CODES[outcome.code], outcome.message);
}
