import type { WireCallRecord } from '../../../lib/protocol/call-record.ts';
import { invokeAcceptedSchema } from '../../../lib/protocol/rest.ts';
import type { Address } from '../../start-callboard.ts';
import { type Asked, get, post, recordOf } from './ask.ts';

export interface InvokeMore {
  readonly run_id?: string;
  readonly client?: string;
  readonly timeout_ms?: number;
}

/** Invokes a tool as an agent would, and gives the id of the call. */
export async function invoke(
  board: Address,
  name: string,
  args: unknown = {},
  { run_id = 'run_contract', ...more }: InvokeMore = {},
  asked?: Asked,
): Promise<string> {
  const path = `/v1/tools/${encodeURIComponent(name)}/invoke`;
  const answer = await post(board, path, { run_id, args, ...more }, asked);
  if (answer.status !== 202) throw new Error(`invoke ${name}: ${answer.status} ${answer.text}`);
  return invokeAcceptedSchema.parse(answer.body).tool_call_id;
}

export const readCall = async (board: Address, id: string): Promise<WireCallRecord> =>
  recordOf(await get(board, `/v1/tool_calls/${id}`));

/** The record once it is final, or as it is after ten seconds. */
export const finalCall = async (board: Address, id: string): Promise<WireCallRecord> =>
  recordOf(await get(board, `/v1/tool_calls/${id}?wait_ms=10000`));
