import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { callRecordSchema, type WireCallRecord } from '#lib/protocol/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { until } from './until.ts';
import type { World } from './world.ts';

const toolNamesSchema = z.object({ tools: z.array(z.object({ name: z.string() })) });

export interface AskOptions {
  readonly timeoutMs: number;
  /** The id of the client that is to be asked. */
  readonly client?: string | undefined;
  /** How long the tool takes; its effect is in the middle. */
  readonly ms?: number;
  /** The result is filled up to so many bytes. */
  readonly bytes?: number;
  /** Once its effect is done, the tool runs on until this file is there. */
  readonly until?: string;
}

/** Asks for one call, which the witness then knows of. */
export async function askCall(
  { api, witness }: Pick<World, 'api' | 'witness'>,
  tool: string,
  { timeoutMs, client, ms, bytes, until }: AskOptions,
): Promise<string> {
  const nonce = randomUUID();
  const answer = await api.ask('POST', `/v1/tools/${tool}/invoke`, {
    headers: { 'idempotency-key': nonce },
    body: {
      run_id: 'run_network',
      timeout_ms: timeoutMs,
      ...(client === undefined ? {} : { client }),
      args: {
        nonce,
        ...(ms === undefined ? {} : { ms }),
        ...(bytes === undefined ? {} : { bytes }),
        ...(until === undefined ? {} : { until }),
      },
    },
  });
  if (answer?.status !== 202)
    throw new Error(`${tool} was not accepted: ${JSON.stringify(answer)}`);
  const id = (answer.body as { tool_call_id: string }).tool_call_id;
  witness.accepted(id, { key: nonce, tool, nonce });
  return id;
}

/** A client that returns sends its answers before its tools: its last call may have ended already. */
export const untilOffered = ({ api }: Pick<World, 'api'>, tool: string): Promise<boolean> =>
  until(`${tool} is offered`, 60_000, async () => {
    const answer = await api.ask('GET', '/v1/tools');
    return toolNamesSchema.parse(answer?.body).tools.some(({ name }) => name === tool);
  });

/** The call once it is final, or as it is after `ms`. */
export async function callEnd(
  { api, witness }: Pick<World, 'api' | 'witness'>,
  id: string,
  ms: number,
): Promise<WireCallRecord> {
  const giveUpAt = performance.now() + ms;
  for (;;) {
    const left = Math.max(0, Math.min(30_000, Math.round(giveUpAt - performance.now())));
    const answer = await api.ask('GET', `/v1/tool_calls/${id}?wait_ms=${left}`);
    if (answer?.status === 200) {
      const record = callRecordSchema.parse(answer.body);
      witness.saw(record);
      if (isFinalStatus(record.status) || left === 0) return record;
    } else if (left === 0) throw new Error(`${id} cannot be read: ${JSON.stringify(answer)}`);
  }
}
