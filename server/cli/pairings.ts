import encodeQR from 'qr';
import {
  type OpenedPairing,
  openedPairingSchema,
  pairingSchema,
  pairingsSchema,
  type WirePairing,
} from '#lib/protocol/device';
import type { Context } from './command.ts';
import { CliError } from './exit-codes.ts';
import type { Output } from './output.ts';

export const openPairing = (context: Context): Promise<OpenedPairing> =>
  context.server().post('/v1/pairings', {}, openedPairingSchema);

export async function findPairing(context: Context, id: string): Promise<WirePairing> {
  const { pairings } = await context.server().get('/v1/pairings', pairingsSchema, context.signal);
  const pairing = pairings.find((one) => one.pairing_id === id);
  if (pairing !== undefined) return pairing;
  throw new CliError('notFound', `the pairing ${id} is not there any more; begin a new one`);
}

export const decideOnPairing = (context: Context, id: string, body: object): Promise<WirePairing> =>
  context.server().post(`/v1/pairings/${encodeURIComponent(id)}/decision`, body, pairingSchema);

export const withdrawPairing = (context: Context, id: string): Promise<WirePairing> =>
  context
    .server()
    .send({ method: 'DELETE', path: `/v1/pairings/${encodeURIComponent(id)}` }, pairingSchema);

/** `ABCDEFGH` as people read it aloud: `ABCD-EFGH`. */
const spelled = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

export function printInvitation(
  { out }: Context,
  { code, links, expires_at }: OpenedPairing,
): void {
  const [link, ...others] = links;
  if (link !== undefined) printQr(out, link);
  out.line(`Link: ${link ?? 'none; this server has no address that a phone could open'}`);
  for (const other of others) out.line(`  or: ${other}`);
  out.line(`Code: ${spelled(code)}`);
  out.line(`Until ${new Date(expires_at * 1_000).toLocaleTimeString('en-GB')}, for one device.`);
}

/** At a terminal in its black and white, whatever its colours are; else in blocks. */
export function printQr(out: Output, link: string): void {
  out.picture(encodeQR(link, out.isTerminal ? 'term' : 'ascii', { ecc: 'medium' }));
}
