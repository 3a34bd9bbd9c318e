import { z } from 'zod';
import {
  type CreatedToken,
  createdTokenSchema,
  type NewTokenBody,
} from '../../../lib/protocol/token.ts';
import type { Callboard } from '../../start-callboard.ts';
import { ask, get, post } from './ask.ts';

/** A token that the administrator of a server makes. */
export async function makeToken(board: Callboard, body: NewTokenBody): Promise<CreatedToken> {
  const answer = await post(board, '/v1/tokens', body);
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
  return createdTokenSchema.parse(answer.body);
}

export const revokeToken = (board: Callboard, id: string) =>
  ask(board, 'DELETE', `/v1/tokens/${id}`);

/** The same server, asked with another token. */
export const asToken = (board: Callboard, { secret }: Pick<CreatedToken, 'secret'>): Callboard => ({
  ...board,
  token: secret,
});

const referenceSchema = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.object({ description: z.string() }))),
});

/** A body with all that a decision on a call could need, wherever it is sent. */
const DECISION = {
  ...{ decision: 'yes', always: true, approved: true, output: 'mine', by_ms: 60_000 },
  ...{ id: 'always', note: 'please', args: {} },
};

/**
 * Sends a decision on a call to every route of the API that changes something, but for cancelling
 * it, which its owner may. Gives the status by route.
 */
export async function decideOverAnyRoute(
  board: Callboard,
  callId: string,
): Promise<Map<string, number>> {
  const { paths } = referenceSchema.parse((await get(board, '/openapi.json')).body);
  const statuses = new Map<string, number>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const method of Object.keys(methods)) {
      if (method === 'get' || path.endsWith('/cancel')) continue;
      const at = path.replaceAll(/\{\w+\}/g, callId);
      const body = method === 'delete' ? {} : { body: DECISION };
      const { status } = await ask(board, method.toUpperCase(), at, body);
      statuses.set(`${method.toUpperCase()} ${path}`, status);
    }
  }
  return statuses;
}
