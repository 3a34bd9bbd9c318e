import { createHash } from 'node:crypto';
import { MODEL_OUTPUT_VERSION, outputOfRecord } from '#lib/call/model-output';
import {
  type ModelOutputRecord,
  type ModelTurn,
  modelOutputSchema,
} from '#lib/protocol/model-turn';
import type { HttpDeps } from '../http-deps.ts';
import { json } from '../response.ts';
import { defineRoute, type Route } from '../route.ts';
import { findCall, READERS } from './access.ts';

/** A result is sent again only in another form: more of these no run has. */
const MOST_SENT = 20;

export const modelOutputRoute = (deps: Pick<HttpDeps, 'calls' | 'runs'>): Route =>
  defineRoute({
    method: 'GET',
    path: '/v1/tool_calls/:id/model_output',
    id: 'getModelOutput',
    tag: 'calls',
    summary:
      'What a model is sent of a call, and the requests that had it: where their sha256 is that of the text, it is what the model got',
    access: READERS,
    responses: { 200: { description: 'The text and its requests', schema: modelOutputSchema } },
    async handle({ principal, params, context }) {
      const call = await findCall(deps, principal, params.id, context);
      const page = await deps.runs.modelTurns({
        ...{ runId: call.runId, toolCallId: call.id, after: 0, limit: MOST_SENT },
      });
      const sent = (page?.turns ?? []).flatMap((turn) => sentOf(turn, call.id));
      // As it was sent last, whatever the bound is by now.
      const limit = sent.at(-1)?.limit ?? deps.runs.resultBytes;
      const { text, cut, images } = outputOfRecord(call, limit);
      const output: ModelOutputRecord = {
        tool_call_id: call.id,
        status: call.status,
        text,
        sha256: createHash('sha256').update(text).digest('hex'),
        bytes: Buffer.byteLength(text),
        cut,
        images: images.map(({ blob_id }) => blob_id),
        rendering: MODEL_OUTPUT_VERSION,
        sent,
      };
      return json(200, output);
    },
  });

function sentOf(turn: ModelTurn, callId: string): ModelOutputRecord['sent'] {
  const { number, step, attempt, model, started_at, rendering } = turn;
  const facts = { number, turn: turn.turn, step, attempt, model, started_at, rendering };
  return turn.sent.flatMap(({ tool_call_id, ...part }) =>
    tool_call_id === callId ? [{ ...facts, ...part }] : [],
  );
}
