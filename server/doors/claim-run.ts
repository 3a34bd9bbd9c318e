import { HttpError } from '#lib/protocol/http-error';
import type { RunRecord } from '#lib/protocol/run';
import {
  type Audit,
  type AuditedAct,
  byCaller,
  type Caller,
  keyedId,
  ownsRun,
  principalName,
} from '../auth/room.ts';
import type { BlobStore } from '../blobs/room.ts';
import type { ClaimRun } from '../calls/room.ts';
import type { RunOutcome, RunService } from '../runs/room.ts';
import { seenRun } from './access.ts';
import { keepFiles, type MessageContent } from './message-content.ts';

export interface DoorRunsDeps {
  readonly runs: Pick<RunService, 'get' | 'send' | 'cancel'>;
  /** Takes the id of a run that is not there for the caller. */
  readonly claimRun: ClaimRun;
  readonly audit: Pick<Audit, 'record'>;
  readonly blobs: Pick<BlobStore, 'put'>;
  /** The secret of the data directory: ids that are made with it no caller can make. */
  readonly key: string;
}

/** A caller talks, from an address, in a run. */
export interface Talk {
  readonly caller: Caller;
  readonly address: string;
  readonly runId: string;
}

export interface DoorMessage extends Partial<Pick<MessageContent, 'files'>> {
  /** The title of a run that the message begins. */
  readonly title: string;
  /** Its words; without them those of the message that it replaces. */
  readonly input?: string;
  readonly more?: Omit<Parameters<RunService['send']>[1], 'by' | 'input' | 'files'>;
}

/** The run is another's, who began it under this id. */
export const NOT_OWN = 'not_own';

export type DoorOutcome =
  | RunOutcome
  | { readonly ok: false; readonly code: typeof NOT_OWN; readonly message: string };

/** Runs as the doors claim, continue and stop them: each door renders, and none has rules of its own. */
export class DoorRuns {
  readonly #deps: DoorRunsDeps;

  constructor(deps: DoorRunsDeps) {
    this.#deps = deps;
  }

  /** The id of the run that a door calls so, also after a restart. */
  idOf(door: string, ...name: readonly string[]): string {
    return keyedId(this.#deps.key, door, name);
  }

  get(runId: string): Promise<RunRecord | undefined> {
    return this.#deps.runs.get(runId);
  }

  /** The run, if it is there and the caller may see it. */
  findSeen(caller: Caller, runId: string): Promise<RunRecord | undefined> {
    return seenRun(this.#deps, caller, runId);
  }

  /** Sends a message into `before`, or begins the run with it, which is the caller's then. */
  async send(
    talk: Talk,
    before: RunRecord | undefined,
    { title, input, files: given = [], more }: DoorMessage,
  ): Promise<DoorOutcome> {
    const { runs, claimRun, blobs } = this.#deps;
    const { caller, runId } = talk;
    const { files, lost } = await keepFiles(given, blobs);
    if (!before) {
      const claim = await claimRun(runId, title || files[0]?.name || 'A file', caller);
      if (claim.ownerToken !== caller.tokenId) return notOwn();
      await claim.write();
    }
    const words = input === undefined ? {} : { input: input + lost, files };
    const outcome = await runs.send(runId, { ...more, ...words, by: caller });
    if (!outcome.ok) return outcome;
    if (!before) await this.record(talk, 'run_started');
    else if (!ownsRun(caller, before)) await this.record(talk, 'message_sent');
    return outcome;
  }

  /** Stops the turn that runs, with its calls. */
  async stop(talk: Talk): Promise<RunOutcome> {
    const outcome = await this.#deps.runs.cancel(talk.runId, principalName(talk.caller));
    if (outcome.ok) await this.record(talk, 'run_stopped');
    return outcome;
  }

  /** Acts of people are in the audit. */
  async record(
    { caller, address, runId }: Talk,
    act: AuditedAct['act'],
    detail: AuditedAct['detail'] = {},
  ): Promise<void> {
    if (caller.kind !== 'operator') return;
    await this.#deps.audit.record(byCaller(caller, address, { act, target: runId, detail }));
  }
}

const notOwn = (): DoorOutcome => ({
  ok: false,
  code: NOT_OWN,
  message: 'The run belongs to another token.',
});

/** The run that a message was sent to; throws why it was not sent. */
export function sentTo(outcome: DoorOutcome, notThere: () => HttpError): RunRecord {
  if (outcome.ok) return outcome.run;
  throw outcome.code === NOT_OWN ? notThere() : new HttpError(outcome.code, outcome.message);
}
