import { createHash, randomBytes } from 'node:crypto';
import {
  deviceSchema,
  joinedSchema,
  openedPairingSchema,
  outcomeSchema,
  pairingSchema,
} from '../../../lib/protocol/device.ts';
import type { Callboard } from '../../start-callboard.ts';
import { type Answered, type Asked, ask, get, post } from './ask.ts';

const parsed = <T>(schema: { parse(value: unknown): T }, answer: Answered): T => {
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  return schema.parse(answer.body);
};

/** A token as a device makes it, and the hash that it sends. */
export function makeDeviceToken() {
  const token = `cb_device_${randomBytes(32).toString('base64url')}`;
  return { token, token_hash: createHash('sha256').update(token).digest('hex') };
}

export const openPairing = async (board: Callboard) =>
  parsed(openedPairingSchema, await post(board, '/v1/pairings'));

export const join = (board: Callboard, body: object, headers: Asked['headers'] = {}) =>
  post(board, '/api/pairing/join', body, { token: null, headers });

export const decide = async (board: Callboard, pairingId: string, decision: object) =>
  parsed(pairingSchema, await post(board, `/v1/pairings/${pairingId}/decision`, decision));

export const outcomeOf = async (board: Callboard, token: string, wait_ms = 0) =>
  parsed(
    outcomeSchema,
    await post(board, '/api/pairing/outcome', { token, wait_ms }, { token: null }),
  );

export const readDevice = async (board: Callboard, id: string) =>
  parsed(deviceSchema, await get(board, `/v1/devices/${id}`));

export const revokeDevice = async (board: Callboard, id: string) =>
  parsed(deviceSchema, await ask(board, 'DELETE', `/v1/devices/${id}`));

export const decideTools = async (board: Callboard, id: string, decision: object) =>
  parsed(deviceSchema, await post(board, `/v1/devices/${id}/tools`, decision));

/** A device that asked with a code of its own, and was let in. */
export async function pairDevice(board: Callboard, tools: readonly object[], name = 'Pixel 8') {
  const { token, token_hash } = makeDeviceToken();
  const { code } = await openPairing(board);
  const body = { code, token_hash, name, kind: 'phone', tools };
  const { pairing_id } = parsed(joinedSchema, await join(board, body));
  const { device_id } = await decide(board, pairing_id, { decision: 'approve' });
  const device = await readDevice(board, device_id ?? '');
  return { token, device, board: { ...board, token } satisfies Callboard };
}
