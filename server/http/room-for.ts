import type { ServerResponse } from 'node:http';
import { HttpError } from '#lib/protocol/http-error';
import type { OutboundBudget, OutboundShare } from '../sockets/room.ts';
import { whenClosed } from './when-closed.ts';

/** Resolves when the response may be made, and has its room until it is sent. Throws `rate_limited` when too many wait. */
export async function roomFor(
  outbound: OutboundBudget,
  outgoing: ServerResponse,
  bytes: number,
  holder: string,
): Promise<OutboundShare> {
  const share = outbound.open(
    {
      sentBytes: () => outgoing.socket?.bytesWritten ?? 0,
      // Before its first byte it is the server that takes long.
      cut: () => void (outgoing.headersSent && outgoing.destroy()),
    },
    bytes,
    holder,
  );
  whenClosed(outgoing, share.release);
  if (await share.admitted) return share;
  throw new HttpError('rate_limited', 'Too many large responses are asked for at once.', {
    retryAfter: 1,
  });
}
