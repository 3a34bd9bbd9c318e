import { hash } from 'node:crypto';
import {
  type Audit,
  byCaller,
  keyedId,
  type Operator,
  ownsRun,
  principalName,
} from '../../auth/room.ts';
import type { ClaimRun } from '../../calls/room.ts';
import type { RunOutcome, RunService } from '../../runs/room.ts';
import { type ErrorCode, type ErrorFrame, errorFrame, type ServerFrame } from './chat-frames.ts';

export interface ChatRunsDeps {
  readonly runs: Pick<RunService, 'get' | 'send' | 'cancel'>;
  /** Takes the id of a run that is not there for the person. */
  readonly claimRun: ClaimRun;
  readonly audit: Pick<Audit, 'record'>;
  /** Of the data directory: ids that are made with it no caller can make. */
  readonly key: string;
}

/** Who talks, from where, in which run. */
export interface Talk {
  readonly runId: string;
  readonly person: Operator;
  readonly address: string;
}

/** As runs of sessions were called before their ids were made with the key: anyone could make one. */
const formerIdOf = (sessionId: string): string =>
  `clawseed_${hash('sha256', sessionId, 'base64url').slice(0, 32)}`;

export const MISMATCH = errorFrame(
  'SESSION_OWNER_MISMATCH',
  'This session belongs to another token. Begin one under another session_id.',
);

/** What an app asks of the agent; each gives the frame of a refusal, or nothing. */
export class ChatRuns {
  readonly #deps: ChatRunsDeps;

  constructor(deps: ChatRunsDeps) {
    this.#deps = deps;
  }

  /** One session, one run; an app may call its sessions anything. */
  idOf(sessionId: string): string {
    return keyedId(this.#deps.key, 'clawseed', [sessionId]);
  }

  /** The run of the session; one of before goes on, where it is this person's. */
  async find(sessionId: string, person: Operator): Promise<string> {
    const [id, former] = [this.idOf(sessionId), formerIdOf(sessionId)];
    if ((await this.get(id)) !== undefined) return id;
    const before = await this.get(former);
    return before && ownsRun(person, before) ? former : id;
  }

  get(runId: string): ReturnType<RunService['get']> {
    return this.#deps.runs.get(runId);
  }

  /** `title`: of a run that is not there yet. */
  async message(
    talk: Talk,
    message: { content: string; title: string; clientId: string | undefined },
  ): Promise<ErrorFrame | undefined> {
    const { runs, claimRun } = this.#deps;
    const { runId, person } = talk;
    const isNew = (await runs.get(runId)) === undefined;
    const claim = await claimRun(runId, message.title, person);
    if (claim.ownerToken !== person.tokenId) return MISMATCH;
    await claim.write();
    const outcome = await runs.send(runId, asked(message.content, message.clientId));
    if (outcome.ok && isNew) await this.#record(talk, 'run_started');
    return refusalOf(outcome);
  }

  /** The last message of the person, for another answer. */
  async regenerate(talk: Talk, clientId: string | undefined): Promise<ErrorFrame | undefined> {
    const run = await this.#deps.runs.get(talk.runId);
    const last = run?.messages.findLast(({ role }) => role === 'user');
    if (!last) return errorFrame('NO_USER_MESSAGE', 'There is no message to answer again.');
    const replaces = { replaces: last.message_id };
    const outcome = await this.#deps.runs.send(talk.runId, {
      ...asked(undefined, clientId),
      ...replaces,
    });
    if (outcome.ok) {
      const detail = { message_id: last.message_id, edited: false };
      await this.#record(talk, 'message_replaced', detail);
    }
    return refusalOf(outcome);
  }

  /** The turn's own end follows as an event. */
  async abort(talk: Talk, send: (frame: ServerFrame) => void): Promise<ErrorFrame | undefined> {
    const { runs } = this.#deps;
    const run = await runs.get(talk.runId);
    const isRunning = run?.status === 'running';
    send({ type: 'abort_ack', status: isRunning ? 'aborted' : 'no_active_response' });
    if (!isRunning) return undefined;
    const outcome = await runs.cancel(talk.runId, principalName(talk.person));
    if (outcome.ok) await this.#record(talk, 'run_stopped');
    return refusalOf(outcome);
  }

  #record(
    { person, address, runId }: Talk,
    act: 'run_started' | 'run_stopped' | 'message_replaced',
    detail = {},
  ): Promise<void> {
    return this.#deps.audit.record(byCaller(person, address, { act, target: runId, detail }));
  }
}

const asked = (input: string | undefined, clientId: string | undefined) => ({
  ...(input === undefined ? {} : { input }),
  ...(clientId === undefined ? {} : { clientId }),
});

const CODES: Record<Extract<RunOutcome, { ok: false }>['code'], ErrorCode> = {
  // Too many messages wait, or the turn is being stopped.
  conflict: 'SESSION_BUSY',
  bad_request: 'INVALID_MESSAGE',
  run_not_found: 'SESSION_BIND_FAILED',
  shutting_down: 'SHUTTING_DOWN',
  store_failed: 'STORE_FAILED',
};

const refusalOf = (outcome: RunOutcome): ErrorFrame | undefined =>
  outcome.ok ? undefined : errorFrame(CODES[outcome.code], outcome.message);
