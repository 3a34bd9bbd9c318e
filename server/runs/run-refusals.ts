import type { RunParent } from '#lib/protocol/run';
import { errorMessage } from '#lib/util/error-message';
import { StoreFailedError } from '../store/store-errors.ts';
import type { RunOutcome } from './run-service.ts';

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
