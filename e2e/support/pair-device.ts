import { createHash, randomBytes } from 'node:crypto';
import type { Spec } from '../contract/kit/tool-client.ts';
import type { Callboard } from '../start-callboard.ts';

export interface AskingDevice {
  /** Its own; the server has the hash alone until it connects. */
  readonly token: string;
  readonly pairingId: string;
}

/** Asks to be let in as a phone would that has scanned the code. */
export async function askToJoin(
  board: Callboard,
  { code, name, tools }: { code: string; name: string; tools: readonly Spec[] },
): Promise<AskingDevice> {
  const token = `cb_device_${randomBytes(32).toString('base64url')}`;
  const token_hash = createHash('sha256').update(token).digest('hex');
  const body = { code, token_hash, name, kind: 'phone', tools };
  const { status, body: joined } = await board.http('POST', '/api/pairing/join', body);
  if (status !== 200) throw new Error(`join was answered with ${status}`);
  return { token, pairingId: (joined as { pairing_id: string }).pairing_id };
}

/** A phone that a person let in, by HTTP alone. */
export async function pairDevice(
  board: Callboard,
  { name, tools }: { name: string; tools: readonly Spec[] },
): Promise<AskingDevice & { readonly deviceId: string }> {
  const { body: opened } = await board.http('POST', '/v1/pairings', {});
  const asking = await askToJoin(board, { code: (opened as { code: string }).code, name, tools });
  const path = `/v1/pairings/${asking.pairingId}/decision`;
  const { body } = await board.http('POST', path, { decision: 'approve' });
  return { ...asking, deviceId: (body as { device_id: string }).device_id };
}
