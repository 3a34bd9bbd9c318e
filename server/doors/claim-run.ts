import { HttpError } from '#lib/protocol/http-error';
import type { RunRecord } from '#lib/protocol/run';
import { type Audit, byCaller, type Caller, ownsRun } from '../auth/room.ts';
import type { BlobStore } from '../blobs/room.ts';
import type { ClaimRun } from '../calls/room.ts';
import type { RunService } from '../runs/room.ts';
import { keepFiles, type MessageContent } from './message-content.ts';

export interface SendMessageDeps {
  readonly runs: Pick<RunService, 'send'>;
  readonly claimRun: ClaimRun;
  readonly audit: Pick<Audit, 'record'>;
  readonly blobs: Pick<BlobStore, 'put'>;
}

export interface FrontEndMessage {
  readonly caller: Caller;
  readonly address: string;
  readonly runId: string;
  /** The run as it is; undefined where the message begins it. */
  readonly before: RunRecord | undefined;
  /** Its words alone, which the title is made of. */
  readonly title: string;
  readonly input: string;
  readonly files: MessageContent['files'];
  readonly more: Pick<Parameters<RunService['send']>[1], 'givenId' | 'model' | 'replaces'>;
  readonly notThere: () => HttpError;
}

/** Sends what a person said at a front end, into a run of theirs or of another. */
export async function sendMessage(
  { runs, claimRun, audit, blobs }: SendMessageDeps,
  { caller, address, runId, before, title, input, more, notThere, ...sent }: FrontEndMessage,
): Promise<RunRecord> {
  const { files, lost } = await keepFiles(sent.files, blobs);
  if (!before) {
    const claim = await claimRun(runId, title || files[0]?.name || 'A file', caller);
    if (claim.ownerToken !== caller.tokenId) throw notThere();
    await claim.write();
  }
  const outcome = await runs.send(runId, { ...more, by: caller, input: input + lost, files });
  if (!outcome.ok) throw new HttpError(outcome.code, outcome.message);
  const isOwn = before !== undefined && ownsRun(caller, before);
  if (caller.kind === 'operator' && !isOwn) {
    const act = before ? 'message_sent' : 'run_started';
    await audit.record(byCaller(caller, address, { act, target: runId }));
  }
  return outcome.run;
}
